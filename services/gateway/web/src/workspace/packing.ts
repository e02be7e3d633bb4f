// Places for nested boxes: a folder's files stand in a grid, its folders beside them, in rows of about the same width.

export interface Box {
  id: string;
  children: Box[];
}

export interface Point {
  x: number;
  y: number;
}

interface Placed {
  width: number;
  height: number;
  points: Map<string, Point>;
}

/** Pixels between a folder's border and what is in it. */
export const PADDING = 10;
/** The height of a folder's name, which stands above its border. */
export const TITLE = 16;
const CELL = { width: 92, height: 46 };
const GAP = 10;
const ASPECT = 1.7;

/** Return the centre of each leaf; an enclosing box follows from what it holds. */
export function packed(root: Box): Map<string, Point> {
  return place(root).points;
}

function place(box: Box): Placed {
  if (box.children.length === 0) {
    return { ...CELL, points: new Map([[box.id, { x: CELL.width / 2, y: CELL.height / 2 }]]) };
  }
  const parts = box.children.map(place).sort((a, b) => b.height - a.height);
  const area = parts.reduce((sum, part) => sum + (part.width + GAP) * (part.height + GAP), 0);
  const widest = Math.max(Math.sqrt(area * ASPECT), ...parts.map((part) => part.width));
  return framed(inRows(parts, widest));
}

/** Make room for the border and name of the box around these. */
function framed({ width, height, points }: Placed): Placed {
  const moved = new Map([...points].map(([id, { x, y }]) => [id, { x: x + PADDING, y: y + PADDING + TITLE }]));
  return { width: width + 2 * PADDING, height: height + 2 * PADDING + TITLE, points: moved };
}

function inRows(parts: Placed[], widest: number): Placed {
  const points = new Map<string, Point>();
  let [x, y, row, width] = [0, 0, 0, 0];
  for (const part of parts) {
    if (x > 0 && x + part.width > widest) [x, y, row] = [0, y + row + gapOf(row), 0];
    for (const [id, point] of part.points) points.set(id, { x: x + point.x, y: y + point.y });
    x += part.width + gapOf(part.height);
    row = Math.max(row, part.height);
    width = Math.max(width, x - gapOf(part.height));
  }
  return { width, height: y + row, points };
}

/** Files stand close together; boxes apart. */
function gapOf(height: number): number {
  return height > CELL.height ? GAP : 4;
}
