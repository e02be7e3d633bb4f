// A chart of the last hour. uPlot draws on a canvas; the caption says the same to screen readers.
import { useEffect, useRef, useState } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { useDark } from "@/shell/theme";
import type { ChartEntry } from "./series";

const HEIGHT = 120;
/** Charts with the same key share the cursor. */
const SYNC = "operations";
const clock = (seconds: number) => new Date(seconds * 1000).toLocaleTimeString("en", { hour: "2-digit", minute: "2-digit", hour12: false });

function optionsOf(chart: ChartEntry, span: [number, number], width: number, onCursor: (index: number | null) => void): uPlot.Options {
  const css = getComputedStyle(document.documentElement);
  const colour = (name: string) => css.getPropertyValue(name).trim();
  const axis = { stroke: colour("--muted"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false }, font: "11px Inter Variable, sans-serif" };
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { sync: { key: SYNC }, drag: { x: false, y: false }, points: { size: 5 } },
    scales: { x: { range: () => span }, y: { range: (_, __, most) => [0, most > 0 ? most * 1.1 : 1] } },
    axes: [
      { ...axis, size: 26, space: 70, incrs: [60, 120, 300, 600, 900], values: (_, ticks) => ticks.map(clock) },
      { ...axis, size: 56, space: 24, values: (_, ticks) => ticks.map(chart.show) },
    ],
    series: [{}, ...chart.lines.map((line) => ({ label: line.name, stroke: colour(`--${line.tone}`), width: 1.5, points: { size: 4 }, spanGaps: false }))],
    hooks: { setCursor: [(plot: uPlot) => { onCursor(plot.cursor.idx ?? null); }] },
  };
}

interface ChartProps {
  chart: ChartEntry;
  /** The moments of the values, in seconds since 1970. */
  times: number[];
  /** The moments at the left and right edge. */
  span: [number, number];
}

export default function Chart({ chart, times, span }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const dark = useDark();
  const [at, setAt] = useState<number | null>(null);
  const [from, to] = span;
  useEffect(() => {
    const container = box.current;
    if (!container) return;
    const plot = new uPlot(optionsOf(chart, [from, to], container.clientWidth, setAt), [times, ...chart.lines.map((line) => line.values)], container);
    const fits = new ResizeObserver(() => { plot.setSize({ width: container.clientWidth, height: HEIGHT }); });
    fits.observe(container);
    return () => {
      fits.disconnect();
      plot.destroy();
    };
  }, [chart, times, from, to, dark]);
  const index = at ?? times.length - 1;
  const moment = at === null ? undefined : times[at];
  return (
    <figure className="min-w-0 rounded-xl border border-line bg-surface p-3">
      <figcaption className="flex flex-wrap items-baseline gap-x-3 pb-1">
        <span className="flex-1 text-sm font-medium">{chart.title}</span>
        <span className="flex flex-wrap gap-x-3 text-sm tabular-nums">
          {moment !== undefined && <span className="text-muted">{clock(moment)}</span>}
          {chart.lines.map((line) => {
            const value = line.values[index];
            return (
              <span key={line.name} className="inline-flex items-center gap-1">
                <span aria-hidden className="size-2 rounded-full" style={{ background: `var(--${line.tone})` }} />
                <span className={chart.lines.length > 1 ? "text-muted" : "sr-only"}>{line.name}</span>
                {value === null || value === undefined ? "–" : chart.show(value)}
              </span>
            );
          })}
        </span>
      </figcaption>
      <div ref={box} aria-hidden className="w-full overflow-hidden" style={{ height: HEIGHT }} />
    </figure>
  );
}
