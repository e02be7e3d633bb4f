// A plan: what the review said, its steps as a timeline and as a graph, and for each step all that is known.
import { ChevronRight, CircleCheck, CircleDashed, CircleDot, CircleX, Hourglass, ListChecks } from "lucide-react";
import { Tabs } from "radix-ui";
import { useRef, useState } from "react";
import { useVirtualizer } from "@tanstack/react-virtual";
import { Json } from "@/components/json";
import { Elapsed } from "@/components/time";
import { Badge, Button, Card, Spinner, type Tone } from "@/components/ui";
import { cx } from "@/lib/cx";
import { bytes, count, duration } from "@/lib/format";
import { type PlanChange, planChanges, readings } from "@/session/rounds";
import { type Commitment, ofOutcome, ofStep, type Said } from "@/session/says";
import type { ApprovalView, Round, StepView } from "@/session/types";
import { CommandBadge, CommandOutput, CommandResult, commandOf } from "./command";
import { PlanGraph } from "./plan-graph";
import { UndoDialog } from "./undo-dialog";

interface PlanCardProps {
  session: string;
  round: Round;
  number: number;
  before: Round | null;
  approvals: readonly ApprovalView[];
  /** The turn still runs: its stage can be rolled back to a snapshot. */
  open: boolean;
  /** The words of the task, which tell this plan from others. */
  task: string;
  /** Whether what the steps staged was committed. */
  committed: Commitment;
}

const MANY = 40;

export function PlanCard({ session, round, number, before, approvals, open, task, committed }: PlanCardProps) {
  const [tab, setTab] = useState("timeline");
  const [chosen, setChosen] = useState<number | null>(null);
  const done = round.steps.filter((step) => step.state === "succeeded").length;
  const choose = (ordinal: number) => {
    setChosen(ordinal);
    setTab("timeline");
  };
  return (
    <Card aria-label={`${number > 1 ? `Plan ${number.toString()}` : "Plan"} for: ${task}`}>
      <Tabs.Root value={tab} onValueChange={setTab}>
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 pt-3">
          <ListChecks aria-hidden className="size-4 text-muted" />
          <h3 className="font-semibold">{number > 1 ? `Plan ${number.toString()}` : "Plan"}</h3>
          <span className="text-sm text-muted tabular-nums">{done} of {count(round.steps.length, "step")}</span>
          <span className="flex-1" />
          <Tabs.List aria-label="View of the plan" className="flex gap-0.5 rounded-lg border border-line bg-sunken p-px">
            {["timeline", "graph", "review"].map((name) => (
              <Tabs.Trigger key={name} value={name} className="rounded-md px-2 py-1 text-sm font-medium text-muted capitalize data-[state=active]:bg-surface data-[state=active]:text-ink dark:data-[state=active]:bg-hover data-[state=active]:shadow-sm">
                {name}
              </Tabs.Trigger>
            ))}
          </Tabs.List>
        </div>
        {round.plan.reasoning && <p className="px-4 pt-1 text-sm text-muted">{round.plan.reasoning}</p>}
        <div className="p-2">
          <Tabs.Content value="timeline" tabIndex={-1}>
            <Timeline key={chosen} session={session} round={round} approvals={approvals} open={open} chosen={chosen} committed={committed} />
          </Tabs.Content>
          <Tabs.Content value="graph" tabIndex={-1} className="px-2 pt-1">
            <PlanGraph steps={round.steps} committed={committed} onChoose={choose} />
          </Tabs.Content>
          <Tabs.Content value="review" tabIndex={-1} className="px-2 pt-1">
            <Reviews round={round} before={before} />
          </Tabs.Content>
        </div>
      </Tabs.Root>
    </Card>
  );
}

/** Reviewers in words; an agent's own name stands for itself. */
const REVIEWERS: Record<string, string> = { model: "the reviewer", static: "the static checks" };

function Reviews({ round, before }: { round: Round; before: Round | null }) {
  const changes = before ? planChanges(before.plan, round.plan) : null;
  return (
    <div className="flex flex-col gap-3 pb-2 text-sm">
      {!round.committee && <p className="text-muted">The policy did not require the committee; the static checks passed.</p>}
      <ol className="flex flex-col gap-3">
        {readings(round).map(({ review, changes: since }, at) => (
          <li key={at} className="flex flex-col gap-1.5">
            {since && <Changes title="Changed for this reading" changes={since} />}
            <div className="flex items-start gap-2">
              <Badge tone={review.approved ? "ok" : "danger"}>{review.approved ? "Approved" : "Rejected"}</Badge>
              <span className="min-w-0">
                {review.by && <span className="text-muted">by {REVIEWERS[review.by] ?? review.by}{review.step ? `, step ${review.step.toString()}` : ""}. </span>}
                {review.reason}
              </span>
            </div>
          </li>
        ))}
      </ol>
      {changes && <Changes title="Changed since the previous plan" changes={changes} />}
    </div>
  );
}

function Changes({ title, changes }: { title: string; changes: readonly PlanChange[] }) {
  return (
    <div className="rounded-lg border border-line px-3 py-2">
      <h4 className="pb-1 font-medium">{title}</h4>
      {changes.length === 0 && <p className="text-muted">The same steps again.</p>}
      <ul className="flex flex-col gap-1">
        {changes.map((change) => (
          <li key={`${change.kind} ${change.description}`} className="flex items-start gap-2">
            <Badge tone={change.kind === "added" ? "ok" : change.kind === "removed" ? "danger" : "info"}>{change.kind}</Badge>
            <span className="min-w-0">{change.description} <code className="font-mono text-xs break-all text-muted">{change.detail}</code></span>
          </li>
        ))}
      </ul>
    </div>
  );
}

interface TimelineProps {
  session: string;
  round: Round;
  approvals: readonly ApprovalView[];
  open: boolean;
  chosen: number | null;
  committed: Commitment;
}

/** The steps in order, with bars for when each ran. A long plan draws only the rows in view. */
function Timeline({ session, round, approvals, open, chosen, committed }: TimelineProps) {
  const span = spanOf(round);
  const box = useRef<HTMLDivElement>(null);
  const long = round.steps.length > MANY;
  const rows = useVirtualizer({
    count: long ? round.steps.length : 0,
    getScrollElement: () => box.current,
    estimateSize: () => 40,
    overscan: 10,
    initialOffset: chosen === null ? 0 : Math.max(0, chosen - 3) * 40,
  });
  const row = (step: StepView) => (
    <StepRow
      session={session}
      step={step}
      span={span}
      open={open}
      opened={chosen === step.ordinal}
      said={ofStep(step, committed)}
      approval={approvals.find((each) => each.asked.step_id === step.planned?.step_id) ?? null}
    />
  );
  if (!long) return <ol>{round.steps.map((step) => <li key={step.ordinal}>{row(step)}</li>)}</ol>;
  return (
    <div ref={box} className="h-110 overflow-y-auto" tabIndex={0} role="region" aria-label="Steps">
      <div role="list" className="relative" style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map((item) => {
          const step = round.steps[item.index];
          return (
            step && (
              <div key={item.key} role="listitem" aria-setsize={round.steps.length} aria-posinset={item.index + 1} ref={rows.measureElement} data-index={item.index} className="absolute top-0 left-0 w-full" style={{ transform: `translateY(${item.start.toString()}px)` }}>
                {row(step)}
              </div>
            )
          );
        })}
      </div>
    </div>
  );
}

interface Span {
  from: number;
  to: number;
}

function spanOf(round: Round): Span {
  const ends = round.steps.flatMap((step) => (step.endedAt ? [Date.parse(step.endedAt)] : []));
  const from = Date.parse(round.at);
  return { from, to: Math.max(from + 1, ...ends) };
}

function StepIcon({ state, tone }: { state: string; tone: Tone }) {
  const colour = tone === "ok" ? "text-ok" : tone === "danger" ? "text-danger" : tone === "warn" ? "text-warn" : "text-muted";
  const className = `size-4 shrink-0 ${colour}`;
  if (state === "running") return <Spinner className="mx-px shrink-0 text-info" />;
  if (state === "pending") return <CircleDashed aria-hidden className={className} />;
  if (state === "awaiting_approval") return <Hourglass aria-hidden className={className} />;
  if (tone === "ok") return <CircleCheck aria-hidden className={className} />;
  if (tone === "danger") return <CircleX aria-hidden className={className} />;
  return <CircleDot aria-hidden className={className} />;
}

interface StepRowProps {
  session: string;
  step: StepView;
  span: Span;
  open: boolean;
  opened: boolean;
  said: Said;
  approval: ApprovalView | null;
}

/** The result of a step in words: a proposal until it is committed, and nothing if it was discarded. */
function resultOf({ latest }: StepView, said: Said): string {
  if (said.text === "Staged" || said.text === "Approved with changes") return latest?.proposed ?? "";
  return said.text === "Discarded" ? "" : (latest?.summary ?? "");
}

/** States that an icon alone does not tell. */
const LABELLED = new Set(["Staged", "Discarded", "Skipped", "Outcome unknown"]);

function StepRow({ session, step, span, open, opened, said, approval }: StepRowProps) {
  const [shown, setShown] = useState(opened);
  const { planned, latest } = step;
  const told = resultOf(step, said);
  return (
    <div className={cx("rounded-lg", shown && "bg-sunken")}>
      <button type="button" aria-expanded={shown} onClick={() => { setShown(!shown); }} className="flex w-full items-center gap-2 rounded-lg px-2 py-2 text-left -outline-offset-2 hover:bg-hover">
        <ChevronRight aria-hidden className={cx("size-3.5 shrink-0 text-muted transition-transform", shown && "rotate-90")} />
        <StepIcon state={step.state} tone={said.tone} />
        <span className="min-w-0 flex-1">
          <span className="sr-only">Step {step.ordinal}, {said.text}: </span>
          <span className="block truncate">{planned?.description ?? latest?.description}</span>
          {told && !shown && <span className="block truncate text-sm text-muted">{told}</span>}
        </span>
        <CommandBadge done={commandOf(step)} />
        {LABELLED.has(said.text) && <Badge tone={said.tone}>{said.text}</Badge>}
        {step.attempts > 1 && <Badge tone="warn">attempt {step.attempts}</Badge>}
        {planned?.mutates && <Badge className="max-sm:hidden">changes files</Badge>}
        <Bar step={step} span={span} />
      </button>
      {step.state === "running" && <CommandOutput step={step} />}
      {shown && <StepDetails session={session} step={step} open={open} said={said} approval={approval} />}
    </div>
  );
}

/** When the step ran within the plan, and how long. */
function Bar({ step, span }: { step: StepView; span: Span }) {
  if (step.startedAt === null) return null;
  const from = Date.parse(step.startedAt);
  const to = step.endedAt === null ? span.to : Date.parse(step.endedAt);
  const whole = span.to - span.from;
  const left = Math.min(96, Math.max(0, ((from - span.from) / whole) * 100));
  const width = Math.max(4, Math.min(100 - left, ((to - from) / whole) * 100));
  return (
    <span className="flex shrink-0 items-center gap-2">
      <span aria-hidden className="relative hidden h-1.5 w-24 rounded-full bg-hover sm:block">
        <span className="absolute h-full rounded-full bg-line-strong" style={{ left: `${left.toString()}%`, width: `${width.toString()}%` }} />
      </span>
      <span className="w-14 text-right text-xs text-muted tabular-nums">
        {step.endedAt === null ? step.state === "running" && <Elapsed since={step.startedAt} /> : duration(to - from)}
      </span>
    </span>
  );
}

const VERDICTS: Record<string, string> = { allow: "Allowed by", ask: "Needs approval by", deny: "Denied by", "": "By" };

function StepDetails({ session, step, open, said, approval }: { session: string; step: StepView; open: boolean; said: Said; approval: ApprovalView | null }) {
  const { planned, latest } = step;
  const [undoing, setUndoing] = useState(false);
  const snapshot = latest?.snapshot;
  const rule = latest?.rule ? latest.rule : approval?.asked.rule;
  return (
    <div className="flex flex-col gap-2 px-3 pt-1 pb-3 pl-9 text-sm">
      {resultOf(step, said) && <p>{resultOf(step, said)}</p>}
      <CommandResult step={step} />
      {latest?.error && <p className="rounded-md bg-danger-tint px-2 py-1 text-danger">{latest.error}</p>}
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-0.5 [&_dd]:min-w-0 [&_dd]:break-words [&_dt]:text-muted">
        <dt>State</dt>
        <dd>{said.text}{step.state === "awaiting_approval" && ": waits for your decision below"}</dd>
        <dt>Tool</dt>
        <dd><code className="font-mono text-xs">{planned?.tool ?? latest?.tool}</code>{planned?.mutates && ", changes files"}</dd>
        {rule && <><dt>Policy</dt><dd>{VERDICTS[latest?.verdict ?? ""] ?? latest?.verdict} <code className="font-mono text-xs">{rule}</code></dd></>}
        {approval?.closed && <><dt>Decision</dt><dd>{ofOutcome(approval.closed.outcome).text}{approval.closed.principal && ` by ${approval.closed.principal}`}</dd></>}
        {(planned?.depends_on ?? []).length > 0 && <><dt>After</dt><dd>step {planned?.depends_on?.join(", ")}</dd></>}
        {step.attempts > 0 && <><dt>Attempts</dt><dd>{step.attempts}</dd></>}
        {planned?.tool_digest && <><dt>Tool version</dt><dd><code className="font-mono text-xs">{planned.tool_digest.slice(0, 12)}</code></dd></>}
      </dl>
      {planned?.args && <Json value={planned.args} label={`Arguments of step ${step.ordinal.toString()}`} />}
      {latest?.result && (
        <a className="w-fit font-medium text-accent-ink underline" href={`/v1/assets/${latest.result.asset_id}`} download={latest.result.filename}>
          {latest.result.filename} ({bytes(latest.result.size)})
        </a>
      )}
      {open && snapshot && (
        <div><Button size="small" onClick={() => { setUndoing(true); }}>Roll back to before this step</Button></div>
      )}
      {undoing && snapshot && <UndoDialog session={session} target={{ snapshot }} onClose={() => { setUndoing(false); }} />}
    </div>
  );
}
