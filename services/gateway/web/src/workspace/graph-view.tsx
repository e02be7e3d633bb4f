// The tree as a graph of compound nodes: a folder encloses what is in it (S4-53). Cytoscape draws on a canvas; the tree beside it says the same to screen readers.
import cytoscape, { type Core, type ElementDefinition, type Position, type StylesheetJson } from "cytoscape";
import { useEffect, useMemo, useRef } from "react";
import type { Diff } from "@/api/generated/events";
import { count } from "@/lib/format";
import { useDark } from "@/shell/theme";
import { PADDING, packed, type Box } from "./packing";
import type { TreeNode } from "./tree";

/** Files of a folder that are drawn one by one; the others are one node with their number. */
const EACH_MOST = 12;
const NODES_MOST = 600;

// Cytoscape would add a <style> element, which the Content-Security-Policy forbids; with this id it takes it as added.
const STYLE_ID = "__________cytoscape_stylesheet";

function elementsOf(root: TreeNode, changes: ReadonlyMap<string, string>): ElementDefinition[] {
  const elements: ElementDefinition[] = [];
  const queue: { node: TreeNode; parent: string | null }[] = [{ node: root, parent: null }];
  while (queue.length > 0 && elements.length < NODES_MOST) {
    const next = queue.shift();
    if (!next) break;
    const { node, parent } = next;
    const id = node.id.toString();
    const inside = parent === null ? {} : { parent };
    elements.push({ data: { id, label: node.name || "/", kind: node.kind, change: changes.get(node.path) ?? "", ...inside } });
    const files = node.children.filter((child) => child.kind !== "directory");
    // Changed files first: these are why one looks.
    files.sort((a, b) => Number(changes.has(b.path)) - Number(changes.has(a.path)));
    for (const child of [...node.children.filter((each) => each.kind === "directory"), ...files.slice(0, EACH_MOST)]) {
      queue.push({ node: child, parent: id });
    }
    const more = files.length - EACH_MOST;
    if (more > 0) elements.push({ data: { id: `${id}-rest`, label: `${more.toString()} more`, kind: "rest", change: "", parent: id } });
  }
  return elements;
}

/** The boxes of the elements, for their places. */
function boxOf(elements: readonly ElementDefinition[]): Box {
  const boxes = new Map(elements.map(({ data }) => [data.id ?? "", { id: data.id ?? "", children: [] } as Box]));
  for (const { data } of elements) {
    const box = boxes.get(data.id ?? "");
    if (box && typeof data.parent === "string") boxes.get(data.parent)?.children.push(box);
  }
  return boxes.get(elements[0]?.data.id ?? "") ?? { id: "", children: [] };
}

function styleOf(): StylesheetJson {
  const css = getComputedStyle(document.documentElement);
  const colour = (name: string) => css.getPropertyValue(name).trim();
  const file = (change: string, tone: string) => ({ selector: `node[kind != 'directory'][change = '${change}']`, style: { "background-color": colour(tone) } });
  const folder = (change: string, tone: string) => ({
    selector: `node[kind = 'directory'][change = '${change}']`,
    style: { "background-color": colour(`${tone}-tint`), "border-color": colour(tone) },
  });
  return [
    {
      selector: "node",
      style: {
        label: "data(label)",
        color: colour("--ink"),
        "font-size": 9,
        "text-valign": "bottom",
        "text-margin-y": 3,
        "text-max-width": "88px",
        "text-wrap": "ellipsis",
        width: 12,
        height: 12,
        "background-color": colour("--line-strong"),
      },
    },
    {
      selector: "node[kind = 'directory']",
      style: {
        shape: "round-rectangle",
        "background-color": colour("--sunken"),
        "border-color": colour("--line-strong"),
        "border-width": 1,
        "text-valign": "top",
        "text-margin-y": -2,
        "font-size": 11,
        "font-weight": 600,
        padding: `${PADDING.toString()}px`,
      },
    },
    { selector: "node[kind = 'rest']", style: { shape: "round-rectangle", "background-opacity": 0.4, color: colour("--muted") } },
    ...["created", "moved"].flatMap((change) => [file(change, "--ok"), folder(change, "--ok")]),
    file("changed", "--info"),
    { selector: "node:selected", style: { "border-width": 2, "border-color": colour("--ink") } },
  ];
}

export default function GraphView({ root, diff }: { root: TreeNode; diff: Diff | undefined }) {
  const box = useRef<HTMLDivElement>(null);
  /** Where a person has moved the view to; it stays there when the files change. */
  const view = useRef<{ zoom: number; pan: Position } | null>(null);
  const dark = useDark();
  const elements = useMemo(
    () => elementsOf(root, new Map((diff?.entries ?? []).map((entry) => [entry.path, entry.change]))),
    [root, diff],
  );
  useEffect(() => {
    const container = box.current;
    if (!container) return;
    const graph: Core = cytoscape({
      container,
      elements,
      style: styleOf(),
      layout: { name: "preset", positions: Object.fromEntries(packed(boxOf(elements))), padding: 24 },
      minZoom: 0.2,
      maxZoom: 3,
    });
    graph.on("dragpan scrollzoom pinchzoom", () => { view.current = { zoom: graph.zoom(), pan: { ...graph.pan() } }; });
    const fits = new ResizeObserver(() => {
      graph.resize();
      if (view.current) graph.viewport(view.current);
      else graph.fit(undefined, 24);
    });
    fits.observe(container);
    return () => {
      fits.disconnect();
      graph.destroy();
    };
  }, [elements, dark]);
  return (
    <>
      <i id={STYLE_ID} hidden />
      <div ref={box} role="img" aria-label={`Graph of ${count(root.files, "file")}, with ${count(diff?.count ?? 0, "proposed change")}; the tree lists them`} className="relative h-[60vh] min-h-72 w-full overflow-hidden rounded-xl border border-line bg-surface" />
    </>
  );
}
