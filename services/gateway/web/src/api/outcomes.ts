// The outcome of a command: the event that ended it, or null while the server still works on it.
import type { Schemas } from "./client";
import type { ApprovalClosed, TurnEnded, WorkspaceChanged } from "./generated/events";

type Outcome = Schemas["Commanded"]["outcome"];

/** A sentence about a command, and whether it reports a failure. */
export interface Report {
  text: string;
  failed: boolean;
}

const SENTENCES = {
  rolled_back: { done: "Undone.", running: "The undo is under way.", failed: "Not undone" },
  redone: { done: "Made again.", running: "The redo is under way.", failed: "Not made again" },
} as const;

/** Answers that closed their question; every other outcome means that the answer did not count. */
const ANSWERED = new Set(["approved", "overridden", "denied", "happened", "did_not_happen"]);

/** Report how an undo or a redo ended. */
export function reportChange(change: keyof typeof SENTENCES, outcome: Outcome): Report {
  const { done, running, failed } = SENTENCES[change];
  if (!outcome) return { text: running, failed: false };
  const reason = reasonAgainst(change, outcome);
  return reason === null ? { text: done, failed: false } : { text: `${failed}: ${reason}`, failed: true };
}

/** Return why an answer did not count; null if it did, or if that is not known yet. */
export function answerRefusal(outcome: Outcome): string | null {
  if (outcome?.type !== "approval.closed") return null;
  const closed = outcome.data as unknown as ApprovalClosed;
  return ANSWERED.has(closed.outcome) ? null : `Your answer did not count: ${reasonOf(closed)}`;
}

function reasonAgainst(change: keyof typeof SENTENCES, { type, data }: NonNullable<Outcome>): string | null {
  if (type === "workspace.changed") {
    return (data as unknown as WorkspaceChanged).change === "conflicted" ? "files were modified meanwhile" : null;
  }
  const { state, reason, detail } = data as unknown as TurnEnded;
  // The turn of a rollback to a snapshot ends without a change of files.
  if (change === "rolled_back" && state === "completed") return null;
  return detail || words(reason ?? state);
}

function reasonOf({ outcome, reason }: ApprovalClosed): string {
  return reason || `the question is ${words(outcome)}`;
}

const words = (name: string) => name.toLowerCase().replaceAll("_", " ");
