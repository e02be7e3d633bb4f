import { useQuery } from "@tanstack/react-query";
import { api, data, type Schemas } from "@/api/client";
import { answered, problemOf } from "@/api/problem";
import { Loaded } from "@/components/states";
import { Badge, Card, type Tone } from "@/components/ui";
import { cx } from "@/lib/cx";
import { words } from "@/lib/format";

type Readiness = Schemas["Readiness"];
type Check = Schemas["Check"];
type Service = Schemas["ServiceHealth"];

const POLL = 5000;

/** A process that is not ready answers 503, with the same report. */
async function readHealth(): Promise<Readiness> {
  const { data, error, response } = await answered(api.GET("/v1/health"));
  if (data) return data;
  if (response.status === 503 && typeof error === "object" && "checks" in error) return error as Readiness;
  throw problemOf(response.status, error);
}

interface State { tone: Tone; text: string }

function stateOf(check: Check): State {
  if (!check.ok) return { tone: "danger", text: "down" };
  if (check.level !== "none") return { tone: "warn", text: `${check.level} loss` };
  return check.detail.startsWith("slow") ? { tone: "warn", text: "slow" } : { tone: "ok", text: "ok" };
}

const REVISION = /\b[0-9a-f]{40,64}\b/;

function detailOf({ detail, circuit }: Check): string {
  return [detail.replace(REVISION, (hash) => `revision ${hash.slice(0, 12)}`), circuit === "closed" ? "" : `circuit ${words(circuit)}`].filter(Boolean).join("; ") || "answers";
}

/** Each service in whatever process it runs, what the process that answers depends on, and why it is not ready. */
export function HealthSection() {
  const query = useQuery({ queryKey: ["health"], queryFn: readHealth, refetchInterval: POLL });
  const services = useQuery({ queryKey: ["health", "services"], queryFn: () => data(api.GET("/v1/health/services")), refetchInterval: POLL });
  return (
    <section aria-labelledby="health" className="flex flex-col gap-2">
      <h2 id="health" className="text-lg font-semibold">Health</h2>
      <Loaded query={query}>{(health) => <Report health={health} services={services.data?.services ?? []} />}</Loaded>
    </section>
  );
}

function Report({ health, services }: { health: Readiness; services: readonly Service[] }) {
  const checks = Object.entries(health.checks).filter(([name]) => !services.some(({ service }) => service === name));
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
      <ul aria-label="Services" className={LIST}>
        {services.map((service) => <Item key={service.service} name={service.service} {...stateOfService(service, health.pid)} />)}
      </ul>
      <ul aria-label="Dependencies" className={cx(LIST, "border-t border-line")}>
        {checks.map(([name, check]) => <Item key={name} name={name} detail={detailOf(check)} {...stateOf(check)} />)}
      </ul>
    </Card>
  );
}

const LIST = "grid gap-x-6 px-4 py-2 sm:grid-cols-2 xl:grid-cols-3";

/** All services of a process share its problems; the one that a problem names is shown with it. */
function stateOfService({ service, state, pid, level, problems }: Service, here: number): State & { detail: string } {
  const own = problems.find((problem) => problem.startsWith(service));
  if (state === "down") return { tone: "danger", text: "down", detail: own ?? "does not answer" };
  const where = pid === here ? "in this process" : `process ${pid?.toString() ?? "unknown"}`;
  if (own) return { tone: "danger", text: "problem", detail: own };
  if (state === "not_ready") return { tone: "warn", text: "not ready", detail: `${where}: ${problems[0] ?? ""}` };
  return level === "none" ? { tone: "ok", text: "ok", detail: where } : { tone: "warn", text: `${level} loss`, detail: where };
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
