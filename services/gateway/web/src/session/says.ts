// States as people read them, with the tone that belongs to each.
import type { Tone } from "@/components/ui";

interface Said {
  text: string;
  tone: Tone;
}

const TURNS: Record<string, Said> = {
  received: { text: "Sent", tone: "neutral" },
  queued: { text: "Queued", tone: "neutral" },
  running: { text: "Running", tone: "info" },
  awaiting_approval: { text: "Waiting for you", tone: "warn" },
  awaiting_clarification: { text: "Has a question", tone: "warn" },
  completed: { text: "Done", tone: "ok" },
  refused: { text: "Refused", tone: "danger" },
  failed: { text: "Failed", tone: "danger" },
  cancelled: { text: "Stopped", tone: "neutral" },
};

const STEPS: Record<string, Said> = {
  pending: { text: "Pending", tone: "neutral" },
  awaiting_approval: { text: "Waiting for approval", tone: "warn" },
  running: { text: "Running", tone: "info" },
  succeeded: { text: "Done", tone: "ok" },
  failed: { text: "Failed", tone: "danger" },
  skipped: { text: "Skipped", tone: "neutral" },
  denied: { text: "Denied", tone: "danger" },
  rolled_back: { text: "Rolled back", tone: "neutral" },
  unknown: { text: "Outcome unknown", tone: "warn" },
  cancelled: { text: "Stopped", tone: "neutral" },
};

const OUTCOMES: Record<string, Said> = {
  approved: { text: "Approved", tone: "ok" },
  overridden: { text: "Approved with changes", tone: "ok" },
  denied: { text: "Refused", tone: "danger" },
  expired: { text: "Expired", tone: "neutral" },
  superseded: { text: "Superseded", tone: "neutral" },
  cancelled: { text: "Stopped", tone: "neutral" },
  happened: { text: "It happened", tone: "ok" },
  did_not_happen: { text: "It did not happen", tone: "neutral" },
};

const other = (state: string): Said => ({ text: state.replaceAll("_", " "), tone: "neutral" });

export const ofTurn = (state: string): Said => TURNS[state] ?? other(state);
export const ofStep = (state: string): Said => STEPS[state] ?? other(state);
export const ofOutcome = (outcome: string): Said => OUTCOMES[outcome] ?? other(outcome);
