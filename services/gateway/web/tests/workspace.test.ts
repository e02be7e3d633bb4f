import { expect, test } from "vitest";
import { packed, PADDING, TITLE } from "@/workspace/packing";
import { linesOf } from "@/workspace/text-diff";
import { rowsOf, treeOf } from "@/workspace/tree";

const node = (id: number, name: string, kind = "file", size = 0) => ({ id, name, kind, size });
const GRAPH = {
  nodes: [node(0, "", "directory", 4096), node(1, "b.txt", "file", 5), node(2, "old", "directory", 4096), node(3, "a.txt", "file", 7)],
  edges: [{ source: 0, target: 1 }, { source: 0, target: 2 }, { source: 2, target: 3 }],
};

test("a tree counts what is below each folder", () => {
  const root = treeOf(GRAPH);
  expect(root).toMatchObject({ files: 2, total: 12 });
  expect(root?.children.map((each) => [each.name, each.files])).toEqual([["old", 1], ["b.txt", 1]]);
});

test("only opened folders show what they hold, and a search shows all that matches", () => {
  const root = treeOf(GRAPH);
  if (!root) throw new Error("no root");
  const paths = (...given: [ReadonlySet<number>, string]) => rowsOf(root, ...given).map(({ node: { path } }) => path);
  expect(paths(new Set(), "")).toEqual(["old", "b.txt"]);
  expect(paths(new Set([2]), "")).toEqual(["old", "old/a.txt", "b.txt"]);
  expect(paths(new Set(), "A.TXT")).toEqual(["old/a.txt"]);
});

test("a text diff folds what did not change", () => {
  const before = Array.from({ length: 20 }, (_, at) => `line ${at.toString()}`).join("\n");
  const lines = linesOf(before, before.replace("line 10\n", "line ten\n"));
  expect(lines.map(({ kind }) => kind)).toEqual(["fold", "same", "same", "same", "removed", "added", "same", "same", "same", "fold"]);
  expect(lines[4]).toMatchObject({ text: "line 10", before: 11 });
});

test("no two files of a graph share a place, and folders keep apart", () => {
  const leaf = (id: string) => ({ id, children: [] });
  const folder = (id: string, files: number) => ({ id, children: Array.from({ length: files }, (_, at) => leaf(`${id}${at.toString()}`)) });
  const points = packed({ id: "root", children: [folder("a", 7), folder("b", 3), leaf("c"), leaf("d")] });
  expect(points.size).toBe(12);
  expect(new Set([...points.values()].map(({ x, y }) => `${x.toString()} ${y.toString()}`)).size).toBe(12);
});

test("each folder around a file leaves room for its border and name", () => {
  const flat = packed({ id: "root", children: [{ id: "note", children: [] }] }).get("note");
  const nested = packed({ id: "root", children: [{ id: "deep", children: [{ id: "note", children: [] }] }] }).get("note");
  expect((nested?.y ?? 0) - (flat?.y ?? 0)).toBe(PADDING + TITLE);
});
