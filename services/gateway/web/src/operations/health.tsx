import { useQuery } from "@tanstack/react-query";
import { api, type Schemas } from "@/api/client";
import { problemOf } from "@/api/problem";
import { Loaded } from "@/components/states";
import { Badge, Card, type Tone } from "@/components/ui";
import { words } from "@/lib/format";

type Readiness = Schemas["Readiness"];
type Check = Schemas["Check"];

const POLL = 5000;

/** A process that is not ready answers 503, with the same report. */
async function readHealth(): Promise<Readiness> {
  const { data, error, response } = await api.GET("/v1/health");
  if (data) return data;
  if (response.status === 503 && typeof error === "object" && "checks" in error) return error as Readiness;
  throw problemOf(response.status, error);
}

interface State { tone: Tone; text: string }

function stateOf(check: Check | undefined): State {
  if (!check) return { tone: "ok", text: "ok" };
  if (!check.ok) return { tone: "danger", text: "down" };
  if (check.level !== "none") return { tone: "warn", text: `${check.level} loss` };
  return check.detail.startsWith("slow") ? { tone: "warn", text: "slow" } : { tone: "ok", text: "ok" };
}

const REVISION = /\b[0-9a-f]{40,64}\b/;

function detailOf({ detail, circuit }: Check): string {
  return [detail.replace(REVISION, (hash) => `revision ${hash.slice(0, 12)}`), circuit === "closed" ? "" : `circuit ${words(circuit)}`].filter(Boolean).join("; ") || "answers";
}

/** The services of the process that answers, what they depend on, and why it is not ready. */
export function HealthSection() {
  const query = useQuery({ queryKey: ["health"], queryFn: readHealth, refetchInterval: POLL });
  return (
    <section aria-labelledby="health" className="flex flex-col gap-2">
      <h2 id="health" className="text-lg font-semibold">Health</h2>
      <Loaded query={query}>{(health) => <Report health={health} />}</Loaded>
    </section>
  );
}

function Report({ health }: { health: Readiness }) {
  const others = Object.entries(health.checks).filter(([name]) => !health.services.includes(name));
  return (
    <Card>
      <p className="flex flex-wrap items-center gap-2 border-b border-line px-4 py-3">
        <Badge tone={health.ready ? "ok" : "danger"}>{health.ready ? "ready" : "not ready"}</Badge>
        {health.level !== "none" && <Badge tone="warn">{health.level} degradation</Badge>}
        <span className="text-sm text-muted">version {health.version}, process {health.pid.toString()}</span>
      </p>
      {health.problems.length > 0 && (
        <ul className="border-b border-line px-4 py-3 text-sm text-danger" role="alert">
          {health.problems.map((problem) => <li key={problem} className="[overflow-wrap:anywhere]">{problem}</li>)}
        </ul>
      )}
      <ul className="grid gap-x-6 px-4 py-2 sm:grid-cols-2 xl:grid-cols-3">
        {health.services.map((name) => {
          const problem = health.problems.find((each) => each.startsWith(name));
          const state: State = problem ? { tone: "danger", text: "problem" } : stateOf(health.checks[name]);
          return <Item key={name} name={name} detail={problem ?? "in this process"} {...state} />;
        })}
        {others.map(([name, check]) => <Item key={name} name={name} detail={detailOf(check)} {...stateOf(check)} />)}
      </ul>
    </Card>
  );
}

function Item({ name, detail, tone, text }: State & { name: string; detail: string }) {
  return (
    <li className="flex min-w-0 items-center gap-3 py-1.5">
      <span className="min-w-0 flex-1">
        <span className="block truncate font-medium">{words(name)}</span>
        <span className="block truncate text-sm text-muted" title={detail}>{detail}</span>
      </span>
      <Badge tone={tone}>{text}</Badge>
    </li>
  );
}
