// The turns of a session from its events: each event changes one turn. Pure, so that a replay gives the same.
import type { Schemas } from "@/api/client";
import type { EventData } from "@/api/generated/events";
import { ENDED, STEP_ENDED, type Event, type StepView, type TurnView } from "./types";

export interface SessionView {
  /** The number of the last event. */
  seq: number;
  turns: readonly TurnView[];
}

export const EMPTY: SessionView = { seq: 0, turns: [] };

function turn(id: string): TurnView {
  return {
    id,
    text: "",
    undo: null,
    agent: null,
    attachments: [],
    state: "received",
    position: null,
    acceptedAt: null,
    startedAt: null,
    endedAt: null,
    reason: null,
    detail: "",
    intent: null,
    rounds: [],
    approvals: [],
    questions: [],
    changes: [],
    missing: [],
    answer: null,
    usage: null,
    draft: "",
  };
}

/** Return the view after an event. An event that was seen already changes nothing. */
export function reduce(view: SessionView, event: Event): SessionView {
  if (event.seq <= view.seq) return view;
  const id = event.turn_id;
  if (id === null) return { ...view, seq: event.seq };
  const at = view.turns.findIndex((each) => each.id === id);
  const before = view.turns[at] ?? turn(id);
  const after = changed(before, event);
  const turns = at < 0 ? [...view.turns, after] : view.turns.with(at, after);
  return { seq: event.seq, turns };
}

type Handlers = { [T in keyof EventData]: (turn: TurnView, data: EventData[T], event: Event) => Partial<TurnView> };

const HANDLERS: Handlers = {
  "turn.queued": (_, data) => ({ state: "queued", position: data.position }),
  "turn.started": (_, data, { time }) => ({ state: "running", startedAt: time, position: null, text: data.text, agent: data.agent ?? null, undo: data.message_id !== null ? null : data.text === "redo" ? "redo" : "undo" }),
  "turn.analysed": (_, data) => ({ intent: data.intent }),
  "memories.recalled": () => ({}),
  "turn.degraded": (now, data) => ({ missing: [...now.missing, data.missing] }),
  "turn.ended": (_, data, { time }) => ({
    state: data.state,
    reason: data.reason ?? null,
    detail: data.detail ?? "",
    usage: data.usage ?? null,
    endedAt: time,
    draft: "",
  }),
  "plan.proposed": (now, data, { time }) => ({
    state: "running",
    rounds: [
      ...now.rounds,
      {
        plan: data.plan,
        reviews: data.reviews ?? [],
        drafts: data.drafts ?? [],
        committee: data.committee ?? true,
        marks: data.marks ?? [],
        at: time,
        steps: (data.plan.steps ?? []).map(
          (planned): StepView => ({
            ordinal: planned.ordinal,
            planned,
            latest: null,
            state: "pending",
            startedAt: null,
            endedAt: null,
            attempts: 0,
          }),
        ),
      },
    ],
  }),
  "step.changed": (now, data, { time }) => ({
    rounds: now.rounds.map((round) =>
      round.plan.plan_id !== data.plan_id
        ? round
        : { ...round, steps: round.steps.map((step) => (step.ordinal === data.ordinal ? moved(step, data, time) : step)) },
    ),
  }),
  "approval.requested": (now, data, { time }) => ({
    state: "awaiting_approval",
    approvals: [...now.approvals, { asked: data, askedAt: time, closed: null, closedAt: null }],
  }),
  "approval.closed": (now, data, { time }) => ({
    state: data.outcome === "stale" ? now.state : "running",
    approvals: now.approvals.map((each) =>
      each.asked.approval_id === data.approval_id && data.outcome !== "stale" ? { ...each, closed: data, closedAt: time } : each,
    ),
  }),
  "clarification.requested": (now, data, { time }) => ({
    state: "awaiting_clarification",
    questions: [...now.questions, { asked: data, at: time, reply: null, repliedAt: null }],
  }),
  "clarification.replied": (now, data, { time }) =>
    data.instead ? {} : { state: "running", questions: answered(now.questions, data.text, time) },
  "message.completed": (_, data) => ({ answer: data.text, draft: "" }),
  "workspace.changed": (now, data) => ({ changes: [...now.changes, data] }),
};

function changed(now: TurnView, event: Event): TurnView {
  if (event.type === "message.accepted") {
    const { text, attachments = [], answers } = event.data as Schemas["MessageAccepted"];
    return answers ? now : { ...now, text, attachments, acceptedAt: event.time };
  }
  const handler = HANDLERS[event.type as keyof EventData] as
    | ((turn: TurnView, data: unknown, event: Event) => Partial<TurnView>)
    | undefined;
  // A newer server may send events that this page does not know.
  if (!handler) return now;
  const after = { ...now, ...handler(now, event.data, event) };
  return { ...after, state: nextState(now, after.state) };
}

/** Return a turn's next state. An ended turn keeps its own: a question about an effect may follow the end. */
function nextState({ state }: TurnView, next: string): string {
  return ENDED.has(state) ? state : next;
}

function moved(step: StepView, data: EventData["step.changed"], time: string): StepView {
  const starts = data.state === "running";
  return {
    ...step,
    latest: data,
    state: data.state,
    startedAt: starts ? (step.startedAt ?? time) : step.startedAt,
    // A step that is discarded with its turn was at work only until it was done.
    endedAt: STEP_ENDED.has(data.state) ? (step.endedAt ?? time) : null,
    attempts: step.attempts + (starts ? 1 : 0),
  };
}

/** Show a reply at the question that it answered. */
function answered(questions: TurnView["questions"], reply: string, repliedAt: string): TurnView["questions"] {
  const open = questions.findLastIndex((each) => each.reply === null);
  const question = questions[open];
  return question ? questions.with(open, { ...question, reply, repliedAt }) : questions;
}

/** The partial texts of a stream. A new call or attempt makes the earlier text void. */
export interface Drafts {
  call: string;
  attempt: number;
  turn: string;
  /** The step whose command writes; null for the text of the answer. */
  step: string | null;
  text: string;
}

export function drafted(now: Drafts | null, delta: Schemas["Delta"]): Drafts {
  const same = now !== null && now.turn === delta.turn_id && now.call === delta.call && now.attempt === delta.attempt;
  const { turn_id, call, attempt, text, step_id } = delta;
  return { turn: turn_id, call, attempt, step: step_id, text: same ? now.text + text : text };
}

/** The partial texts after an event: the answer, or the end, of their turn replaces them. */
export function remaining(now: Drafts | null, event: Event): Drafts | null {
  const over = event.type === "message.completed" || event.type === "turn.ended";
  return over && now?.turn === event.turn_id ? null : now;
}

/** Milliseconds that a turn waited for a person until it ended. */
export function waited({ approvals, questions, endedAt }: TurnView): number {
  const waits = [...approvals.map(({ askedAt, closedAt }) => [askedAt, closedAt] as const), ...questions.map(({ at, repliedAt }) => [at, repliedAt] as const)];
  return waits.reduce((sum, [from, to]) => sum + Math.max(0, Date.parse(to ?? endedAt ?? from) - Date.parse(from)), 0);
}

/** The last turn that committed, undid or redid each commit as a whole, and whether it is undone now. */
export function commitsOf(turns: readonly TurnView[]): ReadonlyMap<string, { turn: string; undone: boolean }> {
  const commits = new Map<string, { turn: string; undone: boolean }>();
  for (const { id, changes } of turns) {
    for (const { change, commit_id, operations, whole } of changes) {
      if (commit_id && operations && whole !== false && (change === "committed" || change === "rolled_back")) commits.set(commit_id, { turn: id, undone: change === "rolled_back" });
    }
  }
  return commits;
}

/** How often a session's staged files may have changed: a viewer that sees another number reads them again. */
export function stageMoves(turns: readonly TurnView[]): number {
  const steps = turns.flatMap(({ rounds }) => rounds.flatMap((round) => round.steps));
  const ended = steps.filter(({ planned, state }) => planned?.mutates && STEP_ENDED.has(state));
  return turns.reduce((sum, { changes, approvals }) => sum + changes.length + approvals.length, ended.length);
}

/** The turn that runs or waits; null if the session is idle. */
export function openTurn(turns: readonly TurnView[]): TurnView | null {
  return turns.find((each) => !ENDED.has(each.state)) ?? null;
}
