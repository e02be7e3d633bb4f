// What a person sees of a session, derived from its numbered events.
import type { Schemas } from "@/api/client";
import type {
  ApprovalClosed,
  ApprovalRequested,
  ClarificationRequested,
  EventData,
  Mark,
  Plan,
  Review,
  Step,
  StepChanged,
  Usage,
  WorkspaceChanged,
} from "@/api/generated/events";

export type Event = Omit<Schemas["StreamEvent"], "data"> & { data: unknown };
export type EventType = keyof EventData;
export type { ApprovalRequested, ClarificationRequested, Plan, Review, Step, StepChanged, Usage, WorkspaceChanged };

export interface StepView {
  ordinal: number;
  planned: Step | null;
  latest: StepChanged | null;
  state: string;
  startedAt: string | null;
  endedAt: string | null;
  /** How often it was started. */
  attempts: number;
}

/** A plan that the committee let through, and the steps that ran. A turn that plans again has several. */
export interface Round {
  plan: Plan;
  reviews: Review[];
  /** The plans that the committee rejected before this one. */
  drafts: Plan[];
  committee: boolean;
  /** The kinds of content that the session read first before this plan. */
  marks: Mark[];
  at: string;
  steps: StepView[];
}

export interface ApprovalView {
  asked: ApprovalRequested;
  askedAt: string;
  closed: ApprovalClosed | null;
  closedAt: string | null;
}

export interface Question {
  asked: ClarificationRequested;
  at: string;
  reply: string | null;
  repliedAt: string | null;
}

export interface TurnView {
  id: string;
  text: string;
  /** Whether it undoes or redoes something: no person wrote its text. */
  undo: "undo" | "redo" | null;
  /** The agent that works on it; null for the default one. */
  agent: string | null;
  /** Files that came with the message; `GET /v1/assets/{asset_id}` downloads one. */
  attachments: readonly Schemas["Asset"][];
  state: string;
  position: number | null;
  acceptedAt: string | null;
  startedAt: string | null;
  endedAt: string | null;
  reason: string | null;
  detail: string;
  intent: string | null;
  rounds: Round[];
  approvals: ApprovalView[];
  questions: Question[];
  changes: WorkspaceChanged[];
  missing: string[];
  answer: string | null;
  usage: Usage | null;
  /** Partial text of the model, until `answer` replaces it. */
  draft: string;
}

export const ENDED = new Set(["completed", "refused", "failed", "cancelled"]);
export const STEP_ENDED = new Set(["succeeded", "failed", "skipped", "denied", "rolled_back", "unknown", "cancelled"]);
