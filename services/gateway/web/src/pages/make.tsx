import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { Download, FileText, Image, Images, MessageSquare } from "lucide-react";
import { type FormEvent, type ReactNode, useMemo, useState } from "react";
import { Attempts } from "@/api/attempts";
import { api, data, type Schemas } from "@/api/client";
import { useCancel } from "@/api/commands";
import { capabilitiesQuery, jobQuery, jobsQuery, provenanceQuery } from "@/api/queries";
import { PlanGraph } from "@/chat/plan-graph";
import { Dialog } from "@/components/dialog";
import { Json } from "@/components/json";
import { More } from "@/components/more";
import { Empty, Loaded } from "@/components/states";
import { Ago } from "@/components/time";
import { tell, tellProblem } from "@/components/toast";
import { Badge, Button, Card, Page, TextArea, TextField } from "@/components/ui";
import { copy } from "@/lib/clipboard";
import { bytes, count, duration } from "@/lib/format";
import { stageMoves } from "@/session/reduce";
import { committedOf, ofStep, ofTurn } from "@/session/says";
import { ENDED } from "@/session/types";
import { useLive } from "@/session/use-live";

type Job = Schemas["Job"];
type Asset = Schemas["JobAsset"];
type Step = Schemas["JobStep"];
type Execution = Schemas["Execution"];

/** Make: pictures and documents, in words or as a plan, and the jobs that make them. */
export default function Make() {
  const { job } = useParams({ strict: false }) as { job?: string };
  return job ? <Detail key={job} id={job} /> : <All />;
}

function All() {
  const found = useQuery(capabilitiesQuery);
  return (
    <Page title="Make" about="Diagrams, charts, pictures and documents, made step by step and judged before you get them.">
      <Loaded query={found} empty={({ enabled, problem }) => !enabled && <Empty icon={Images} title="Not enabled here">{problem}</Empty>}>
        {({ capabilities }) => (
          <div className="flex flex-col gap-8">
            <NewJob />
            <Jobs />
            <Capabilities found={capabilities} />
          </div>
        )}
      </Loaded>
    </Page>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  const id = title.toLowerCase().replaceAll(" ", "-");
  return (
    <section aria-labelledby={id} className="flex flex-col gap-3">
      <h2 id={id} className="text-lg font-semibold">{title}</h2>
      {children}
    </section>
  );
}

const LIST = "overflow-hidden rounded-xl border border-line bg-surface";
const ROW = "flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-4 py-2.5 last:border-b-0";

/** A document of the Task DSL, if the text is meant as one. Throws SyntaxError. */
function planIn(text: string): Record<string, unknown> | null {
  return text.startsWith("{") ? (JSON.parse(text) as Record<string, unknown>) : null;
}

function NewJob() {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [attempts] = useState(() => new Attempts());
  const [text, setText] = useState("");
  const [root, setRoot] = useState("");
  const [wrong, setWrong] = useState<string | null>(null);
  const begin = useMutation({
    mutationFn: (form: { request: string } | { plan: Record<string, unknown> }) => {
      const body = { ...form, ...(root.trim() !== "" && { root: root.trim() }), hitl: "bypass" as const };
      return attempts.send(body, (key) => data(api.POST("/v1/multimodal/jobs", { params: { header: { "Idempotency-Key": key } }, body })));
    },
    onSuccess: async ({ job_id }) => {
      await client.invalidateQueries({ queryKey: ["jobs"] });
      await navigate({ to: "/make/{-$job}", params: { job: job_id } });
    },
    onError: tellProblem,
  });
  const send = (event: FormEvent) => {
    event.preventDefault();
    setWrong(null);
    try {
      const plan = planIn(text.trim());
      begin.mutate(plan ? { plan } : { request: text.trim() });
    } catch (error) {
      setWrong(`This is no plan: ${error instanceof Error ? error.message : "it is not JSON"}. Correct it, or write words.`);
    }
  };
  return (
    <Section title="Make something">
      <form className="flex max-w-3xl flex-col gap-3" onSubmit={send}>
        <TextArea label="In words, or as a plan in the Task DSL" rows={3} maxLength={64_000} placeholder="make a chart of the file types" value={text} error={wrong} onChange={(event) => { setText(event.target.value); }} />
        <TextField label="Folder" hint="An allowed folder to read from; without one, Suma keeps one of its own." placeholder="/home/ada/project" maxLength={4096} value={root} onChange={(event) => { setRoot(event.target.value); }} />
        <Button look="primary" type="submit" className="w-fit" busy={begin.isPending} disabled={text.trim() === "" || begin.isPending}>Make it</Button>
      </form>
    </Section>
  );
}

function Jobs() {
  const query = useInfiniteQuery(jobsQuery);
  return (
    <Section title="Jobs">
      <Loaded query={query} empty={({ pages }) => pages[0]?.jobs.length === 0 && <Empty icon={Images} title="No jobs yet">Say “draw a component diagram of src”, or “make a report with a chart of the file types”.</Empty>}>
        {({ pages }) => (
          <ul className={LIST}>
            {pages.flatMap(({ jobs }) => jobs).map(({ job_id, request, state, steps, created_at }) => (
              <li key={job_id} className={ROW}>
                <Link to="/make/{-$job}" params={{ job: job_id }} className="line-clamp-2 min-w-0 flex-1 basis-56 font-medium text-accent-ink [overflow-wrap:anywhere] hover:underline">{request}</Link>
                <Badge tone={ofTurn(state).tone}>{ofTurn(state).text}</Badge>
                <span className="text-sm text-muted">{steps > 0 && `${count(steps, "step")}, `}<Ago time={created_at} /></span>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
      <More query={query} of="jobs" />
    </Section>
  );
}

function Capabilities({ found }: { found: Schemas["CapabilityShown"][] }) {
  return (
    <Section title="Capabilities">
      {found.length === 0 && <p className="text-muted">None is registered.</p>}
      {found.length > 0 && (
        <ul className={LIST}>
          {found.map(({ tool_id, provider, formats, cost_tier, latency_ms, health_status, problem }) => (
            <li key={`${provider}/${tool_id}`} className={ROW}>
              <span className="min-w-0 flex-1 basis-56 font-medium [overflow-wrap:anywhere]">{tool_id}</span>
              <span className="text-sm text-muted">
                {provider}, {formats.join(", ")}, {cost_tier}{typeof latency_ms === "number" && `, ${duration(latency_ms)}`}
              </span>
              <Badge tone={health_status === "healthy" ? "ok" : "warn"}>{health_status}</Badge>
              {problem && <p className="w-full text-sm text-warn [overflow-wrap:anywhere]">{problem}</p>}
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

function Detail({ id }: { id: string }) {
  const query = useQuery(jobQuery(id));
  return (
    <Page
      title="Make"
      about={query.data?.request.slice(0, 200) ?? "A job"}
      actions={<Link to="/make/{-$job}" params={{}} className="font-medium text-muted hover:text-ink">All jobs</Link>}
    >
      <Loaded query={query}>{(job) => <JobView job={job} />}</Loaded>
    </Page>
  );
}

/** A job, live: each event of its session that changes a step reads it again. */
function JobView({ job: read }: { job: Job }) {
  const { view } = useLive(read.session_id);
  const turn = useMemo(() => view.turns.find(({ id }) => id === read.job_id), [view, read.job_id]);
  const state = turn?.state ?? read.state;
  const moved = turn ? `${stageMoves([turn]).toString()}/${turn.rounds.length.toString()}/${state}` : "";
  const job = useQuery({ ...jobQuery(read.job_id, moved), enabled: moved !== "" }).data ?? read;
  const cancel = useCancel();
  const said = ofTurn(state);
  return (
    <div className="flex flex-col gap-8">
      <div className="flex flex-wrap items-center gap-3">
        <span role="status"><Badge tone={said.tone}>{said.text}</Badge></span>
        <span className="text-sm text-muted">{cost(job.cost_micros)}, <Ago time={job.created_at} /></span>
        <span className="flex-1" />
        <Link to="/chat/{-$session}" params={{ session: job.session_id }} className="inline-flex items-center gap-1.5 font-medium text-muted hover:text-ink">
          <MessageSquare aria-hidden className="size-4" /> {state.startsWith("awaiting") ? "Answer its question" : "Conversation"}
        </Link>
        {!ENDED.has(state) && <Button busy={cancel.isPending} onClick={() => { cancel.mutate(job.job_id); }}>Stop</Button>}
      </div>
      {job.detail !== "" && <p className="text-danger [overflow-wrap:anywhere]">{job.detail}</p>}
      {job.warnings.length > 0 && <ul className="rounded-lg bg-warn-tint px-3 py-2 text-sm text-warn">{job.warnings.map((warning) => <li key={warning}>{warning}</li>)}</ul>}
      {turn && turn.rounds.length > 0 && (
        <Section title="Plan">
          {turn.rounds.map(({ plan, steps }) => (
            <PlanGraph key={plan.plan_id} steps={steps} committed={committedOf(turn)} onChoose={(ordinal) => { document.getElementById(stepId(plan.plan_id, ordinal))?.focus(); }} />
          ))}
        </Section>
      )}
      <Section title="Results">
        {job.assets.length === 0 && <p className="text-muted">Nothing is made yet.</p>}
        <div className="grid grid-cols-1 gap-4 md:grid-cols-2">{job.assets.map((asset) => <AssetCard key={asset.asset_id} asset={asset} />)}</div>
      </Section>
      {job.plan.length > 0 && (
        <Section title="Steps">
          <ol className={LIST}>{job.plan.map((step) => <StepRow key={stepId(step.plan_id, step.ordinal)} step={step} />)}</ol>
        </Section>
      )}
    </div>
  );
}

const stepId = (plan: string, ordinal: number) => `step-${plan}-${ordinal.toString()}`;

const cost = (micros: number) => (micros === 0 ? "Free" : `$${(micros / 1e6).toFixed(2)}`);

/** An asset. Its picture is shown as an image, in which no script runs. */
function AssetCard({ asset }: { asset: Asset }) {
  const [asking, setAsking] = useState(false);
  const link = useMutation({
    mutationFn: async () => {
      const { url, expires_at } = await data(api.POST("/v1/multimodal/assets/{asset_id}/link", { params: { path: { asset_id: asset.asset_id } } }));
      await copy(url);
      return expires_at;
    },
    onSuccess: (ends) => { tell(`Copied. Whoever has the link can read this until ${new Date(ends).toLocaleTimeString()}.`); },
    onError: tellProblem,
  });
  const picture = asset.media_type.startsWith("image/");
  return (
    <Card aria-label={asset.title} className="flex flex-col overflow-hidden">
      {picture
        ? <img src={asset.content} alt={asset.title} loading="lazy" className="max-h-80 w-full bg-white object-contain p-2" />
        : <span className="flex h-28 items-center justify-center bg-sunken text-muted"><FileText aria-hidden className="size-8" /></span>}
      <div className="flex flex-col gap-1 border-t border-line px-4 py-3">
        <h3 className="flex items-center gap-2 font-medium [overflow-wrap:anywhere]">{picture && <Image aria-hidden className="size-4 shrink-0 text-muted" />} {asset.title}</h3>
        <p className="text-sm text-muted [overflow-wrap:anywhere]">
          {asset.format}{asset.width > 0 && `, ${asset.width.toString()} × ${asset.height.toString()}`}, {bytes(asset.size)}{asset.path && `, ${asset.path}`}
        </p>
        <div className="flex flex-wrap gap-2 pt-1">
          <a href={asset.content} download className="inline-flex h-7 items-center gap-1.5 rounded-lg border border-line px-2.5 text-sm font-medium hover:bg-hover"><Download aria-hidden className="size-3.5" /> Download</a>
          <Button size="small" onClick={() => { setAsking(true); }}>Where it comes from</Button>
          <Button size="small" busy={link.isPending} onClick={() => { link.mutate(); }}>Copy a link</Button>
        </div>
      </div>
      {asking && <ProvenanceDialog asset={asset} onClose={() => { setAsking(false); }} />}
    </Card>
  );
}

function ProvenanceDialog({ asset, onClose }: { asset: Asset; onClose: () => void }) {
  const query = useQuery(provenanceQuery(asset.asset_id));
  return (
    <Dialog open wide onClose={onClose} title={asset.title} about="What made it, of what, when and for whom.">
      <Loaded query={query}>{({ provenance, sha256 }) => <Json label="Provenance" value={{ sha256, ...provenance }} />}</Loaded>
    </Dialog>
  );
}

function StepRow({ step }: { step: Step }) {
  const { tone, text } = ofStep({ state: step.state, latest: null }, null);
  return (
    <li id={stepId(step.plan_id, step.ordinal)} tabIndex={-1} className="flex flex-col gap-1 border-b border-line px-4 py-2.5 last:border-b-0">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <span className="min-w-0 flex-1 basis-56 font-medium [overflow-wrap:anywhere]">{step.ordinal}. {step.description}</span>
        {step.depends_on.length > 0 && <span className="text-sm text-muted">after {step.depends_on.join(", ")}</span>}
        <Badge tone={tone}>{text}</Badge>
      </div>
      {(step.error ?? step.summary) && <p className="text-sm text-muted [overflow-wrap:anywhere]">{step.error ?? step.summary}</p>}
      {step.executions.length > 0 && <ul className="flex flex-col gap-1">{step.executions.map((each) => <Version key={`${each.attempt.toString()}/${each.at ?? ""}`} of={each} />)}</ul>}
    </li>
  );
}

/** An attempt, with what the critic wanted changed. */
function Version({ of }: { of: Execution }) {
  const about = [`${of.provider}/${of.tool_id}`, of.latency_ms !== null && duration(of.latency_ms), of.quality !== null && `quality ${of.quality.toFixed(2)}`, cost(of.cost_micros)];
  return (
    <li className="rounded-lg bg-sunken px-3 py-1.5 text-sm">
      <span className="font-medium">Version {of.attempt}</span> <span className="text-muted">{about.filter(Boolean).join(", ")}, {of.status}</span>
      {of.asset_id !== null && <> <a href={`/v1/multimodal/assets/${of.asset_id}`} download className="underline">Download</a></>}
      {(of.error ?? of.critique.join(" ")) && <p className="[overflow-wrap:anywhere]">{of.error ?? of.critique.join(" ")}</p>}
    </li>
  );
}
