import { expect, test } from "vitest";
import { layers } from "@/session/graph";
import { planChanges, readings } from "@/session/rounds";

const step = (description: string, args: Record<string, unknown> = {}, ordinal = 1) => ({
  step_id: description,
  ordinal,
  description,
  tool: "files.move",
  args,
});

test("a step stands behind all that it depends on", () => {
  const { nodes, edges, columns, rows } = layers([
    { ordinal: 1 },
    { ordinal: 2 },
    { ordinal: 3, depends_on: [1, 2] },
    { ordinal: 4, depends_on: [3, 1] },
  ]);
  expect(nodes.map(({ column, row }) => [column, row])).toEqual([[0, 0], [0, 1], [1, 0], [2, 0]]);
  expect(edges).toHaveLength(4);
  expect([columns, rows]).toEqual([3, 2]);
});

test("a dependency on a later step makes no circle", () => {
  expect(layers([{ ordinal: 1, depends_on: [2] }, { ordinal: 2, depends_on: [1] }]).edges).toEqual([{ from: 1, to: 2 }]);
});

test("a new plan names what it added, removed and changed", () => {
  const before = { plan_id: "1", steps: [step("Sort", { by: "year" }), step("Delete")] };
  const after = { plan_id: "2", steps: [step("Sort", { by: "type" }), step("Report")] };
  expect(planChanges(before, after).map(({ kind, description }) => `${kind} ${description}`)).toEqual([
    "changed Sort",
    "added Report",
    "removed Delete",
  ]);
});

test("each reading of the committee shows what changed since the one before", () => {
  const plan = { plan_id: "2", steps: [step("Sort")] };
  const round = {
    plan,
    drafts: [{ plan_id: "1", steps: [step("Sort"), step("Delete")] }],
    reviews: [{ approved: false, reason: "deletes" }, { approved: true }],
    committee: true,
    marks: [],
    at: "2026-01-01T00:00:00Z",
    steps: [],
  };
  expect(readings(round).map(({ review, changes }) => [review.approved, changes?.length ?? null])).toEqual([[false, null], [true, 1]]);
  expect(readings({ ...round, drafts: [] }).map(({ changes }) => changes)).toEqual([null, null]);
});
