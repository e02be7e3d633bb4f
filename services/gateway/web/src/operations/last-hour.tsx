import type { UseQueryResult } from "@tanstack/react-query";
import { LineChart } from "lucide-react";
import { lazy, Suspense, useMemo } from "react";
import type { Schemas } from "@/api/client";
import { Empty, Loaded, Loading } from "@/components/states";
import { count, words } from "@/lib/format";
import { chartsOf, sum } from "./series";

type History = Schemas["MetricHistory"];

const Chart = lazy(() => import("./chart"));
const HOUR = 3600;

/** What happened in the last hour, or since the process started. */
export function LastHour({ query }: { query: UseQueryResult<History> }) {
  return (
    <section aria-labelledby="hour" className="flex flex-col gap-2">
      <h2 id="hour" className="text-lg font-semibold">The last hour</h2>
      <Loaded query={query} empty={({ samples, every_seconds }) => samples.length === 0 && <Empty icon={LineChart} title="No figures yet">The process has just started; the first ones follow within {every_seconds.toString()} s.</Empty>}>
        {(history) => <Charts history={history} />}
      </Loaded>
    </section>
  );
}

function Charts({ history }: { history: History }) {
  const { samples, every_seconds: every, services } = history;
  const times = useMemo(() => samples.map((sample) => Date.parse(sample.at) / 1000), [samples]);
  const charts = useMemo(() => chartsOf(samples, every), [samples, every]);
  const end = times.at(-1) ?? 0;
  // A process that is minutes old gets a chart of minutes.
  const span: [number, number] = [Math.max(end - HOUR, Math.min((times[0] ?? 0) - every, end - 4 * every)), end];
  const decisions = [["allowed", "ok"], ["denied", "danger"], ["unanswered", "warn"]] as const;
  return (
    <>
      <p className="text-sm text-muted">
        Over all tenants, of the process that runs {services.length === 6 ? "all services" : services.map(words).join(", ")}. They end with it.
      </p>
      <dl className="grid grid-cols-2 gap-2 sm:grid-cols-3 lg:grid-cols-6">
        <Figure name="Turns ended" value={sum(samples, (at) => at.turns)} />
        <Figure name="Tool calls" value={sum(samples, (at) => at.tool_calls)} />
        {decisions.map(([name, tone]) => <Figure key={name} name={`Policy: ${name}`} value={sum(samples, (at) => at[name])} tone={tone} />)}
        <Figure name="Dead letters" value={sum(samples, (at) => at.dead_letters)} tone="danger" />
      </dl>
      <Suspense fallback={<Loading label="Loading the charts" />}>
        <div className="grid gap-3 lg:grid-cols-2" role="group" aria-label={`Charts of ${count(samples.length, "sample")}`}>
          {charts.map((chart) => <Chart key={chart.title} chart={chart} times={times} span={span} />)}
        </div>
      </Suspense>
    </>
  );
}

const INKS = { ok: "text-ok", danger: "text-danger", warn: "text-warn" };

function Figure({ name, value, tone }: { name: string; value: number; tone?: keyof typeof INKS }) {
  return (
    <div className="flex flex-col-reverse rounded-xl border border-line bg-surface px-4 py-2.5">
      <dt className="text-sm text-muted">{name}</dt>
      <dd className={`text-xl font-semibold tabular-nums ${tone && value > 0 ? INKS[tone] : ""}`}>{value.toLocaleString("en")}</dd>
    </div>
  );
}
