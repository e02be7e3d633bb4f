// The charts of the page Operations, from the samples of the gateway's process.
import type { Schemas } from "@/api/client";
import { bytes, duration } from "@/lib/format";

export type Sample = Schemas["MetricSample"];
export type Tone = "accent-ink" | "ok" | "warn" | "danger" | "info";

export interface Line {
  name: string;
  tone: Tone;
  values: (number | null)[];
}

export interface ChartEntry {
  title: string;
  lines: Line[];
  show: (value: number) => string;
}

const number = (value: number) => value.toLocaleString("en", { maximumFractionDigits: value < 10 ? 1 : 0 });
const MINUTE = 60_000;

/** A counter's increase as a rate a minute. A sample may be late, so its own distance from the one before counts. */
export function perMinute(samples: readonly Sample[], every: number, of: (sample: Sample) => number): number[] {
  return samples.map((sample, index) => {
    const before = samples[index - 1];
    const ms = before ? Date.parse(sample.at) - Date.parse(before.at) : every * 1000;
    return ms > 0 ? (of(sample) * MINUTE) / ms : 0;
  });
}

export function sum(samples: readonly Sample[], of: (sample: Sample) => number): number {
  return samples.reduce((total, sample) => total + of(sample), 0);
}

export function chartsOf(samples: readonly Sample[], every: number): ChartEntry[] {
  const rate = (of: (sample: Sample) => number) => perMinute(samples, every, of);
  const gauge = (of: (sample: Sample) => number | null) => samples.map(of);
  return [
    { title: "Turns ended a minute", lines: [{ name: "turns", tone: "accent-ink", values: rate((at) => at.turns) }], show: number },
    { title: "Tool calls a minute", lines: [{ name: "calls", tone: "accent-ink", values: rate((at) => at.tool_calls) }], show: number },
    {
      title: "Policy decisions a minute",
      lines: [
        { name: "allowed", tone: "ok", values: rate((at) => at.allowed) },
        { name: "denied", tone: "danger", values: rate((at) => at.denied) },
        { name: "unanswered", tone: "warn", values: rate((at) => at.unanswered) },
      ],
      show: number,
    },
    { title: "Requests a minute", lines: [{ name: "requests", tone: "accent-ink", values: rate((at) => at.requests) }], show: number },
    { title: "Response time, 95%", lines: [{ name: "p95", tone: "info", values: gauge((at) => at.p95_seconds === null ? null : at.p95_seconds * 1000) }], show: duration },
    { title: "Lag, records", lines: [{ name: "lag", tone: "info", values: gauge((at) => at.lag) }], show: number },
    { title: "Dead letters a minute", lines: [{ name: "dead letters", tone: "danger", values: rate((at) => at.dead_letters) }], show: number },
    { title: "Memory of the process", lines: [{ name: "memory", tone: "info", values: gauge((at) => at.memory_bytes) }], show: bytes },
  ];
}
