import { expect, test } from "vitest";
import { answerRefusal, reportChange } from "@/api/outcomes";

const outcome = (type: string, data: Record<string, unknown>) => ({ seq: 2, type, turn_id: "t", time: "2026-03-02T09:15:09Z", data });

test("a redo is reported only when files changed", () => {
  const report = (...given: Parameters<typeof outcome>) => reportChange("redone", outcome(...given));
  expect(report("workspace.changed", { change: "committed" })).toEqual({ text: "Made again.", failed: false });
  expect(report("workspace.changed", { change: "conflicted" })).toEqual({ text: "Not made again: files were modified meanwhile", failed: true });
  expect(report("turn.ended", { state: "refused", reason: "POLICY_DENIED", detail: "" })).toEqual({ text: "Not made again: policy denied", failed: true });
});

test("a command without an outcome is under way", () => {
  expect(reportChange("redone", null)).toEqual({ text: "The redo is under way.", failed: false });
  expect(reportChange("rolled_back", undefined)).toEqual({ text: "The undo is under way.", failed: false });
});

test("a refused rollback is reported with its reason", () => {
  const refused = outcome("turn.ended", { state: "refused", reason: "NO_SUCH_SNAPSHOT", detail: "no open turn has this snapshot" });
  expect(reportChange("rolled_back", refused)).toEqual({ text: "Not undone: no open turn has this snapshot", failed: true });
  expect(reportChange("rolled_back", outcome("turn.ended", { state: "completed", reason: "ROLLBACK" })).failed).toBe(false);
  expect(reportChange("rolled_back", outcome("workspace.changed", { change: "rolled_back" })).failed).toBe(false);
});

test("an answer that changed nothing is explained", () => {
  const closed = (how: string, reason: string) => answerRefusal(outcome("approval.closed", { outcome: how, reason }));
  expect(closed("stale", "nothing is called b.txt")).toBe("Your answer did not count: nothing is called b.txt");
  expect(closed("superseded", "what was asked has changed")).toBe("Your answer did not count: what was asked has changed");
  expect([closed("approved", ""), closed("denied", "not now"), closed("did_not_happen", ""), answerRefusal(null)]).toEqual([null, null, null, null]);
});
