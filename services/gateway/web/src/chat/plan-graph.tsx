// The plan as a graph: steps in columns by what they depend on, each with its state.
import { useMemo } from "react";
import { layers } from "@/session/graph";
import { type Commitment, ofStep } from "@/session/says";
import type { StepView } from "@/session/types";

const WIDTH = 176;
const HEIGHT = 44;
const GAP_X = 36;
const GAP_Y = 12;

const STROKES: Record<string, string> = {
  ok: "var(--ok)",
  info: "var(--info)",
  warn: "var(--warn)",
  danger: "var(--danger)",
};

export function PlanGraph({ steps, committed, onChoose }: { steps: readonly StepView[]; committed: Commitment; onChoose: (ordinal: number) => void }) {
  const { nodes, edges, columns, rows } = useMemo(
    () => layers(steps.map(({ ordinal, planned }) => ({ ordinal, depends_on: planned?.depends_on ?? [] }))),
    [steps],
  );
  const places = new Map(nodes.map((node) => [node.ordinal, { x: node.column * (WIDTH + GAP_X) + 2, y: node.row * (HEIGHT + GAP_Y) + 2 }]));
  const at = (ordinal: number) => places.get(ordinal) ?? { x: 0, y: 0 };
  return (
    <div className="max-h-110 overflow-auto pb-1" tabIndex={0} role="region" aria-label="Plan as a graph">
      <svg width={columns * (WIDTH + GAP_X) - GAP_X + 4} height={rows * (HEIGHT + GAP_Y) - GAP_Y + 4} className="block">
        <g fill="none" stroke="var(--line-strong)" strokeWidth="1.25">
          {edges.map(({ from, to }) => {
            const [x1, y1, x2, y2] = [at(from).x + WIDTH, at(from).y + HEIGHT / 2, at(to).x, at(to).y + HEIGHT / 2];
            const half = (x1 + x2) / 2;
            return <path key={`${from.toString()}-${to.toString()}`} d={`M${x1.toString()} ${y1.toString()}C${half.toString()} ${y1.toString()} ${half.toString()} ${y2.toString()} ${x2.toString()} ${y2.toString()}`} />;
          })}
        </g>
        {steps.map((step) => {
          const { x, y } = at(step.ordinal);
          const { tone, text } = ofStep(step, committed);
          return (
            <foreignObject key={step.ordinal} x={x} y={y} width={WIDTH} height={HEIGHT}>
              <button
                type="button"
                onClick={() => { onChoose(step.ordinal); }}
                style={{ borderColor: STROKES[tone] ?? "var(--line-strong)" }}
                className="flex size-full flex-col justify-center rounded-lg border bg-surface px-2.5 text-left -outline-offset-2 hover:bg-hover"
              >
                <span className="sr-only">Step {step.ordinal}, {text}: </span>
                <span className="truncate text-sm font-medium">{step.planned?.description}</span>
                <span className="truncate text-xs text-muted">{step.planned?.tool}</span>
              </button>
            </foreignObject>
          );
        })}
      </svg>
    </div>
  );
}
