// The staged tree as rows to show: folders first, each opened folder followed by what it holds.
import type { Schemas } from "@/api/client";

interface Graph {
  nodes: readonly Pick<Schemas["GraphNode"], "id" | "name" | "kind" | "size">[];
  edges: readonly Schemas["GraphEdge"][];
}

export interface TreeNode {
  id: number;
  name: string;
  kind: string;
  size: number;
  path: string;
  children: TreeNode[];
  /** The size of all files below. */
  total: number;
  files: number;
}

export interface Row {
  node: TreeNode;
  depth: number;
}

/** Return the folder of a graph, with everything in it. A graph has a node for each file, and an edge to it. */
export function treeOf(graph: Graph): TreeNode | null {
  const nodes = new Map(
    graph.nodes.map(({ id, name, kind, size }) => [
      id,
      { id, name, kind, size, path: "", children: [], total: 0, files: 0 } satisfies TreeNode as TreeNode,
    ]),
  );
  for (const { source, target } of graph.edges) {
    const child = nodes.get(target);
    if (child) nodes.get(source)?.children.push(child);
  }
  const root = nodes.get(0) ?? null;
  if (root) settle(root, "");
  return root;
}

function settle(node: TreeNode, path: string): void {
  node.path = path;
  for (const child of node.children) settle(child, path === "" ? child.name : `${path}/${child.name}`);
  node.children.sort((a, b) => Number(b.kind === "directory") - Number(a.kind === "directory") || a.name.localeCompare(b.name));
  const file = node.kind === "directory" ? 0 : 1;
  node.files = node.children.reduce((sum, child) => sum + child.files, file);
  node.total = node.children.reduce((sum, child) => sum + child.total, file * node.size);
}

/** Return the rows in view: all of opened folders, or with words the paths that contain them. */
export function rowsOf(root: TreeNode, opened: ReadonlySet<number>, words: string): Row[] {
  const rows: Row[] = [];
  const wanted = words.trim().toLowerCase();
  const walk = (node: TreeNode, depth: number): void => {
    for (const child of node.children) {
      if (wanted === "") rows.push({ node: child, depth });
      else if (child.path.toLowerCase().includes(wanted)) rows.push({ node: child, depth: 0 });
      if (wanted !== "" || opened.has(child.id)) walk(child, depth + 1);
    }
  };
  walk(root, 0);
  return rows;
}
