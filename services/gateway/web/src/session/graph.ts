// The layers of a plan: a step stands one column behind the last of the steps that it depends on.

export interface Placed {
  ordinal: number;
  column: number;
  row: number;
}

export interface Edge {
  from: number;
  to: number;
}

export interface Layers {
  nodes: readonly Placed[];
  edges: readonly Edge[];
  columns: number;
  rows: number;
}

export interface Depends {
  ordinal: number;
  depends_on?: readonly number[];
}

/** Place the steps of a plan in columns. Edges to unknown or later steps are left out: a plan is a DAG in order. */
export function layers(steps: readonly Depends[]): Layers {
  const columns = new Map<number, number>();
  const heights: number[] = [];
  const nodes: Placed[] = [];
  const edges: Edge[] = [];
  for (const { ordinal, depends_on = [] } of steps) {
    const before = depends_on.filter((each) => columns.has(each));
    const column = Math.max(-1, ...before.map((each) => columns.get(each) ?? 0)) + 1;
    const row = heights[column] ?? 0;
    heights[column] = row + 1;
    columns.set(ordinal, column);
    nodes.push({ ordinal, column, row });
    edges.push(...before.map((from) => ({ from, to: ordinal })));
  }
  return { nodes, edges, columns: heights.length, rows: Math.max(0, ...heights) };
}
