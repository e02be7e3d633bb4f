// States as people read them, with the tone that belongs to each.
import type { Tone } from "@/components/ui";
import type { StepView, TurnView } from "./types";

export interface Said {
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
  refused: { text: "Declined", tone: "neutral" },
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
  rolled_back: { text: "Discarded", tone: "neutral" },
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

const AT_A_LIMIT = new Set(["MAX_TOOL_CALLS", "MAX_ROUNDS", "MAX_WALL_TIME", "CONSECUTIVE_ERRORS"]);

const other = (state: string): Said => ({ text: state.replaceAll("_", " "), tone: "neutral" });

export const ofTurn = (state: string): Said => TURNS[state] ?? other(state);

/** The state of a turn, with what became of its changes. */
export function ofTask(turn: TurnView, undone: boolean): Said {
  if (turn.state !== "completed") return ofTurn(turn.state);
  const made = new Set(turn.changes.map(({ change }) => change));
  if (undone || made.has("rolled_back")) return { text: "Undone", tone: "neutral" };
  if (turn.reason !== null && AT_A_LIMIT.has(turn.reason)) return { text: "Done in part", tone: "neutral" };
  if (made.has("committed")) return ofTurn("completed");
  if (made.has("dropped") || turn.reason === "DENIED" || turn.reason === "DECLINED") return { text: "Declined", tone: "neutral" };
  return { text: "Answered", tone: "neutral" };
}

export type Commitment = "whole" | "part" | null;

/** Whether what a turn staged was committed: all of it, or without what a person left out. */
export function committedOf({ changes, approvals }: TurnView): Commitment {
  if (!changes.some(({ change }) => change === "committed")) return null;
  return approvals.some(({ asked, closed }) => asked.kind === "commit" && closed?.outcome === "overridden") ? "part" : "whole";
}

/** The state of a step. A staged one has only prepared its changes until they are committed. */
export function ofStep({ state, latest }: Pick<StepView, "state" | "latest">, committed: Commitment): Said {
  if (state !== "succeeded" || latest?.snapshot == null || committed === "whole") return STEPS[state] ?? other(state);
  return committed === "part" ? { text: "Approved with changes", tone: "ok" } : { text: "Staged", tone: "info" };
}

export const ofOutcome = (outcome: string): Said => OUTCOMES[outcome] ?? other(outcome);
