import { describe, expect, test } from "vitest";
import { committedOf, ofStep, ofTask } from "@/session/says";
import type { EventData } from "@/api/generated/events";
import { commitsOf, drafted, EMPTY, openTurn, reduce, remaining, stageMoves, waited, type SessionView } from "@/session/reduce";

const TURN = "t1";
let seq = 0;

function event<T extends keyof EventData>(type: T, data: Omit<EventData[T], "turn_id">, turn = TURN) {
  seq += 1;
  return { seq, type, turn_id: turn, time: new Date(1_700_000_000_000 + seq * 1000).toISOString(), data: { turn_id: turn, ...data } };
}

function accepted(text: string, answers = false) {
  seq += 1;
  return { seq, type: "message.accepted", turn_id: TURN, time: new Date(1_700_000_000_000 + seq * 1000).toISOString(), data: { text, answers } };
}

function replay(...events: Parameters<typeof reduce>[1][]): SessionView {
  return events.reduce(reduce, EMPTY);
}

const step = (ordinal: number) => ({ step_id: `s${ordinal.toString()}`, ordinal, description: "List", tool: "files.list" });
const state = (ordinal: number, state: EventData["step.changed"]["state"]) =>
  event("step.changed", { plan_id: "p", step_id: `s${ordinal.toString()}`, ordinal, tool: "files.list", description: "List", state });

describe("a turn", () => {
  test("moves from its message to its answer", () => {
    const view = replay(
      accepted("sort these"),
      event("turn.started", { message_id: "m", text: "sort these" }),
      event("plan.proposed", { plan: { plan_id: "p", steps: [step(1)] } }),
      state(1, "running"),
      state(1, "succeeded"),
      event("message.completed", { message_id: "m2", text: "Done." }),
      event("turn.ended", { state: "completed" }),
    );
    const [turn] = view.turns;
    expect(turn).toMatchObject({ text: "sort these", state: "completed", answer: "Done." });
    expect(turn?.rounds[0]?.steps[0]).toMatchObject({ state: "succeeded", attempts: 1 });
    expect(openTurn(view.turns)).toBeNull();
  });

  test("moves the stage with each changing step, question and commit", () => {
    const changing = { ...step(2), mutates: true };
    const events = [
      event("plan.proposed", { plan: { plan_id: "p", steps: [step(1), changing] } }),
      state(1, "succeeded"),
      state(2, "running"),
      state(2, "succeeded"),
      event("workspace.changed", { change: "committed", epoch: 1 }),
    ];
    const moves = events.map((_, at) => stageMoves(replay(...events.slice(0, at + 1)).turns));
    expect(moves).toEqual([0, 0, 0, 1, 2]);
  });

  test("counts the attempts of a step that runs again", () => {
    const view = replay(
      event("plan.proposed", { plan: { plan_id: "p", steps: [step(1), step(2)] } }),
      state(2, "running"),
      state(2, "running"),
    );
    expect(view.turns[0]?.rounds[0]?.steps.map((each) => each.attempts)).toEqual([0, 2]);
  });

  test("waits while an approval is open, and not after it is closed", () => {
    const asked = { approval_id: "a", kind: "step", digest: "d", title: "Delete 3 files", expires_in: 60 };
    const open = replay(event("approval.requested", asked));
    expect(open.turns[0]?.state).toBe("awaiting_approval");
    const stale = reduce(open, event("approval.closed", { approval_id: "a", outcome: "stale" }));
    expect(stale.turns[0]?.approvals[0]?.closed).toBeNull();
    const closed = reduce(stale, event("approval.closed", { approval_id: "a", outcome: "denied" }));
    expect(closed.turns[0]).toMatchObject({ state: "running", approvals: [{ closed: { outcome: "denied" } }] });
  });

  test("keeps its final state when a question follows its end", () => {
    const asked = { approval_id: "e", kind: "effect", digest: "d", title: "Was the mail sent?", expires_in: 60 };
    const ended = replay(accepted("send it"), event("turn.ended", { state: "failed" }), event("approval.requested", asked));
    expect(ended.turns[0]).toMatchObject({ state: "failed", approvals: [{ closed: null }] });
    expect(openTurn(ended.turns)).toBeNull();
    const closed = reduce(ended, event("approval.closed", { approval_id: "e", outcome: "happened" }));
    expect(closed.turns[0]).toMatchObject({ state: "failed", approvals: [{ closed: { outcome: "happened" } }] });
  });

  test("shows the reply at the question that it answered", () => {
    const view = replay(
      accepted("delete them"),
      event("clarification.requested", { question: "Which?" }),
      accepted("the old ones", true),
      event("clarification.replied", { message_id: "m", text: "the old ones" }),
    );
    expect(view.turns).toMatchObject([{ text: "delete them", state: "running", questions: [{ reply: "the old ones" }] }]);
  });

  test("keeps its question open when a reply begins a turn of its own", () => {
    const view = replay(
      event("clarification.requested", { question: "Which?" }),
      event("clarification.replied", { message_id: "m", text: "too late", instead: "t2" }),
    );
    expect(view.turns).toMatchObject([{ state: "awaiting_clarification", questions: [{ reply: null }] }]);
  });
});

test("an event that was seen changes nothing", () => {
  const first = accepted("once");
  const view = replay(first);
  expect(reduce(view, first)).toBe(view);
});

test("an unknown event only moves the position", () => {
  const view = replay(accepted("hello"));
  const next = reduce(view, { seq: 1e6, type: "turn.of_tomorrow", turn_id: TURN, time: "2026-01-01T00:00:00Z", data: {} });
  expect(next).toEqual({ ...view, seq: 1e6 });
});

test("partial text grows until another attempt begins", () => {
  const delta = { turn_id: TURN, call: "c", attempt: 1, text: "Hel", step_id: null };
  const text = drafted(drafted(null, delta), { ...delta, text: "lo" });
  expect(text.text).toBe("Hello");
  expect(drafted(text, { ...delta, attempt: 2, text: "A" }).text).toBe("A");
});

test("partial text goes with its own turn", () => {
  const text = drafted(null, { turn_id: TURN, call: "c", attempt: 1, text: "Hel", step_id: null });
  const end = { state: "completed", reason: null, detail: "" } as const;
  expect(remaining(text, event("turn.ended", end, "t2"))).toBe(text);
  expect(remaining(text, event("turn.ended", end))).toBeNull();
});

describe("what a turn says of itself", () => {
  const staged = { ...step(1), mutates: true };
  const proposed = (state: EventData["step.changed"]["state"]) =>
    event("step.changed", { plan_id: "p", step_id: "s1", ordinal: 1, tool: "t", description: "Sort", state, snapshot: "v0" });
  const asked = () => event("approval.requested", { approval_id: "a", kind: "commit", digest: "d", title: "Make 1 change?", expires_in: 60 });
  const closed = (outcome: string) => event("approval.closed", { approval_id: "a", outcome });
  const begun = () => [accepted("sort"), event("turn.started", { message_id: "m", text: "sort" }), event("plan.proposed", { plan: { plan_id: "p", steps: [staged] } }), proposed("running"), proposed("succeeded"), asked()];
  const only = (view: SessionView) => {
    const [turn] = view.turns;
    if (!turn) throw new Error("there is no turn");
    return turn;
  };

  test("is staged until it is committed", () => {
    const waiting = replay(...begun());
    const done = (outcome: string) => [closed(outcome), event("workspace.changed", { change: "committed", epoch: 1 }), event("turn.ended", { state: "completed" })];
    const [before, after, partly] = [only(waiting), only(done("approved").reduce(reduce, waiting)), only(done("overridden").reduce(reduce, waiting))];
    const state = (turn: typeof before) => turn.rounds[0]?.steps.map((each) => ofStep(each, committedOf(turn)).text);
    expect([before, after, partly].map(state)).toEqual([["Staged"], ["Done"], ["Approved with changes"]]);
    expect([ofTask(after, false).text, ofTask(after, true).text]).toEqual(["Done", "Undone"]);
  });

  test("is declined if a person refused, and keeps its working time", () => {
    const waiting = replay(...begun());
    const before = only(waiting);
    const turn = only([closed("denied"), proposed("rolled_back"), event("workspace.changed", { change: "dropped", epoch: 1 }), event("turn.ended", { state: "completed", reason: "DENIED" })].reduce(reduce, waiting));
    expect(ofTask(turn, false).text).toBe("Declined");
    expect(ofTask({ ...turn, reason: "MAX_TOOL_CALLS" }, false).text).toBe("Done in part");
    expect(turn.rounds[0]?.steps[0]?.endedAt).not.toBeNull();
    const took = (each: typeof turn) => Date.parse(each.rounds[0]?.steps[0]?.endedAt ?? "") - Date.parse(each.rounds[0]?.steps[0]?.startedAt ?? "");
    expect(took(turn)).toBe(took(before));
    expect(waited(turn)).toBe(1000);
  });

  test("that only answers is not called done", () => {
    expect(ofTask(only(replay(accepted("how many?"), event("message.completed", { message_id: "m", text: "3" }), event("turn.ended", { state: "completed" }))), false).text).toBe("Answered");
  });

  test("an undo is no message of a person", () => {
    expect(only(replay(event("turn.started", { message_id: null, text: "rollback" }))).undo).toBe("undo");
  });
});

test("a commit is as the last undo or redo left it", () => {
  const changed = (turn: string, change: string, more = {}) => event("workspace.changed", { change, commit_id: "c", operations: 2, epoch: 1, ...more }, turn);
  const began = (turn: string, text: string) => event("turn.started", { message_id: null, text }, turn);
  const events = [changed("t1", "committed"), began("t2", "rollback"), changed("t2", "rolled_back"), began("t3", "redo"), changed("t3", "committed")];
  const after = (most: number) => commitsOf(replay(...events.slice(0, most)).turns).get("c");
  expect([after(1), after(3), after(5)]).toEqual([{ turn: "t1", undone: false }, { turn: "t2", undone: true }, { turn: "t3", undone: false }]);
  expect(commitsOf(replay(...events, changed("t4", "rolled_back", { whole: false })).turns).get("c")?.undone).toBe(false);
  expect(replay(...events).turns.map(({ undo }) => undo)).toEqual([null, "undo", "redo"]);
});
