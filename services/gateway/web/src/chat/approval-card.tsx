// A question to a person, wherever it is shown: what would happen, how it can be undone, why it is asked, and the answer.
import { Check, ShieldQuestion, X } from "lucide-react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { useAnswer, useFinding, useReplan } from "@/api/commands";
import type { ApprovalRequested } from "@/api/generated/events";
import { DiffList, DiffSummary, type Exclusion } from "@/components/diff-list";
import { Json } from "@/components/json";
import { Ago } from "@/components/time";
import { Badge, Button, Card, TextArea, TextField } from "@/components/ui";
import { count } from "@/lib/format";
import { useAnswerDraft, without } from "@/session/answer-drafts";
import { ofOutcome } from "@/session/says";
import { focusComposer } from "./composer";
import { Because } from "./marks";

export interface Ask {
  session: string;
  approvalId: string;
  kind: string;
  digest: string;
  data: ApprovalRequested;
  askedAt: string;
  expiresAt: string;
  outcome: string | null;
  reason: string | null;
  principal: string | null;
}

/** What is at stake, from what the question says about itself. */
function risk(ask: Ask): { text: string; tone: "danger" | "warn" | "info" } {
  if (ask.kind === "effect") return { text: "Outcome unknown", tone: "warn" };
  if (ask.kind === "commit" && (ask.data.diff?.deleted || ask.data.diff?.overwritten)) return { text: "Deletes files", tone: "danger" };
  if (/cannot|not be undone/i.test(ask.data.undo ?? "")) return { text: "Cannot be undone", tone: "danger" };
  return ask.kind === "commit" ? { text: "Changes files", tone: "info" } : { text: "Needs approval", tone: "warn" };
}

/** A question, open or decided. Below a turn its title is a heading of the third level, in a list of the second. */
export function ApprovalCard({ ask, where, level = "h3", task }: { ask: Ask; where?: ReactNode; level?: "h2" | "h3"; task?: string }) {
  if (ask.outcome !== null) return <ClosedCard ask={ask} outcome={ask.outcome} />;
  const stakes = risk(ask);
  const Title = level;
  return (
    <Card data-asks aria-label={`Approval: ${ask.data.title}`} className="border-warn/50">
      <div className="flex flex-wrap items-start gap-x-3 gap-y-1 px-4 pt-3">
        <ShieldQuestion aria-hidden className="mt-0.5 size-5 shrink-0 text-warn" />
        <div className="min-w-0 flex-1 basis-32">
          <Title className="font-semibold break-words">{ask.data.title}</Title>
          {where}
        </div>
        <Badge tone={stakes.tone}>{stakes.text}</Badge>
      </div>
      <div className="flex flex-col gap-2.5 px-4 py-3">
        <Details ask={ask} />
        {ask.kind === "effect" ? <FindingForm ask={ask} /> : <AnswerForm ask={ask} task={task} />}
      </div>
    </Card>
  );
}

/** A decided approval is one line; its details stay at hand. */
function ClosedCard({ ask, outcome }: { ask: Ask; outcome: string }) {
  const said = ofOutcome(outcome);
  return (
    <Card aria-label={`Approval: ${ask.data.title}`}>
      <details className="px-4 py-2.5">
        <summary className="rounded">
          <span className="ml-1 inline-flex max-w-[calc(100%-1.5rem)] flex-wrap items-center gap-x-2 align-middle">
            <span className="font-medium">{ask.data.title}</span>
            <Badge tone={said.tone}>{said.text}</Badge>
            {ask.principal && <span className="text-sm text-muted">by {ask.principal}</span>}
          </span>
        </summary>
        <div className="flex flex-col gap-2.5 pt-2">
          {ask.reason && <p className="text-sm">{ask.reason}</p>}
          <Details ask={ask} />
          {ask.data.diff && ask.kind === "commit" && <DiffList diff={ask.data.diff} />}
        </div>
      </details>
    </Card>
  );
}

function Details({ ask }: { ask: Ask }) {
  const { detail, trouble, undo, rule, tool, intent, because = [] } = ask.data;
  return (
    <>
      {trouble && <p className="rounded-lg bg-danger-tint px-3 py-2 text-sm text-danger">{trouble}</p>}
      {detail && <p className="text-sm">{detail}</p>}
      <Because marks={because} />
      {undo && <p className="text-sm text-muted">{undo}</p>}
      <p className="flex flex-wrap gap-x-3 gap-y-1 text-xs text-muted">
        {tool && <span>Tool <code className="font-mono">{tool}</code></span>}
        {rule && <span>Rule <code className="font-mono">{rule}</code></span>}
        {intent && <span>Intent <code className="font-mono">{intent}</code></span>}
        <span title={ask.digest}>Digest <code className="font-mono">{ask.digest.slice(0, 12)}</code></span>
        {ask.outcome === null && <span>Expires <Ago time={ask.expiresAt} /></span>}
      </p>
    </>
  );
}

/** Whether a value stands for a long argument that is stored apart. The server accepts none in an answer. */
function isHandle(value: unknown): boolean {
  return typeof value === "object" && value !== null && "$blob" in value;
}

interface Item {
  id: string;
  text: string;
}

/** The parts of a step's question that may be left out, each with words for it. */
function itemsOf(ask: Ask): Item[] {
  return (ask.data.items ?? []).flatMap((item) => {
    const part = item as Record<string, unknown>;
    if (typeof part.id !== "string") return [];
    return [{ id: part.id, text: wordsOf(part) }];
  });
}

function wordsOf(part: Record<string, unknown>): string {
  const list = (value: unknown) => (Array.isArray(value) ? value.join(", ") : null);
  const [remove, paths] = [list(part.remove), list(part.paths)];
  if (remove !== null && typeof part.keep === "string") return `remove ${remove}; keep ${part.keep}`;
  return paths ?? (typeof part.path === "string" ? part.path : String(part.id));
}

function AnswerForm({ ask, task }: { ask: Ask; task: string | undefined }) {
  const replan = useReplan();
  const draft = useAnswerDraft(ask.data);
  const answer = useAnswer(ask.approvalId, ask.digest, draft.close);
  const [refusing, setRefusing] = useState(false);
  const [editing, setEditing] = useState(false);
  const { diff, args } = ask.data;
  const { excluded } = draft;
  const exclusion: Exclusion = { excluded, toggle: draft.toggle };
  const give = (given: Parameters<typeof answer.mutate>[0]) => { void answer.mutateAsync(given).then(focusComposer, () => undefined); };
  const approve = () => { give(excluded.size > 0 ? { verdict: "override", exclude: [...excluded], reason: draft.reason } : { verdict: "approve" }); };
  const hasArgs = ask.kind === "step" && args !== undefined && Object.keys(args).length > 0;
  const tooLong = hasArgs && Object.values(args).some(isHandle);
  if (refusing) {
    const again = () => { draft.close(); replan.mutate({ session: ask.session, approval: ask.approvalId, digest: ask.digest, task: task ?? "", change: draft.reason }); };
    return (
      <RefuseForm
        reason={draft.reason}
        busy={answer.isPending || replan.isPending}
        onChange={draft.write}
        onBack={() => { setRefusing(false); }}
        onRefuse={() => { give({ verdict: "deny", reason: draft.reason }); }}
        onReplan={task === undefined ? undefined : again}
      />
    );
  }
  if (editing) return <ArgsForm args={without(args ?? {}, excluded)} busy={answer.isPending} onBack={() => { setEditing(false); }} onSave={(edited) => { give({ verdict: "override", args: edited }); }} />;
  return (
    <>
      {diff && ask.kind === "commit" ? (
        <>
          <DiffSummary diff={diff} />
          <DiffList diff={diff} exclusion={exclusion} session={ask.session} />
        </>
      ) : (
        <Items items={itemsOf(ask)} exclusion={exclusion} />
      )}
      {diff && ask.kind === "step" && diff.count > 0 && (
        <details>
          <summary className="w-fit rounded text-sm font-medium text-accent-ink">Proposed by earlier steps: {count(diff.count, "change")}</summary>
          <DiffList diff={diff} />
        </details>
      )}
      {hasArgs && (
        <details open={(ask.data.items ?? []).length === 0}>
          <summary className="w-fit rounded text-sm font-medium text-accent-ink">Exact arguments</summary>
          <div className="pt-1"><Json value={args} label="Arguments" /></div>
        </details>
      )}
      <div className="sticky bottom-0 -mx-4 flex flex-wrap items-center gap-2 rounded-b-xl bg-surface px-4 py-2">
        <Button look="primary" busy={answer.isPending} onClick={approve}>
          <Check aria-hidden className="size-4" /> {excluded.size > 0 ? `Approve without ${count(draft.leavesOut ?? excluded.size, ask.kind === "commit" ? "change" : "item")}` : "Approve"}
        </Button>
        {excluded.size > 0 && <TextField quiet label="Why are these left out? (optional)" placeholder="Why without these? (optional)" value={draft.reason} maxLength={2000} onChange={(event) => { draft.write(event.target.value); }} className="min-w-0 flex-1 basis-52" />}
        <Button look="danger" disabled={answer.isPending} onClick={() => { setRefusing(true); }}>
          <X aria-hidden className="size-4" /> Refuse
        </Button>
        {hasArgs && !tooLong && <Button disabled={answer.isPending} onClick={() => { setEditing(true); }}>Edit arguments</Button>}
      </div>
      {draft.problem && <p role="alert" className="text-sm text-danger">{draft.problem}</p>}
      {tooLong && <p className="text-sm text-muted">An argument is too long to edit here.</p>}
    </>
  );
}

const FEW = 8;

function Items({ items, exclusion }: { items: Item[]; exclusion: Exclusion }) {
  if (items.length < 2) return null;
  const rest = items.slice(FEW);
  const row = ({ id, text }: Item) => (
    <label key={id} className="flex gap-2 rounded-md py-1 text-sm hover:bg-hover">
      <input type="checkbox" checked={!exclusion.excluded.has(id)} onChange={() => { exclusion.toggle(id); }} className="mt-0.5 size-4 shrink-0 accent-(--accent)" />
      <span className="min-w-0 break-words">{text}</span>
    </label>
  );
  return (
    <fieldset className="flex min-w-0 flex-col">
      <legend className="text-sm font-medium">What to include</legend>
      {items.slice(0, FEW).map(row)}
      {rest.length > 0 && (
        <details>
          <summary className="w-fit rounded py-1 text-sm font-medium text-accent-ink">Show {count(rest.length, "more item")}</summary>
          {rest.map(row)}
        </details>
      )}
    </fieldset>
  );
}

interface RefuseFormProps {
  reason: string;
  busy: boolean;
  onChange: (reason: string) => void;
  onBack: () => void;
  onRefuse: () => void;
  /** Refuses, and asks for the task again with the reason; absent where the task is not known. */
  onReplan: (() => void) | undefined;
}

function RefuseForm({ reason, busy, onChange, onBack, onRefuse, onReplan }: RefuseFormProps) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    form.current?.querySelector("input")?.focus();
    form.current?.scrollIntoView({ block: "nearest" });
  }, []);
  return (
    <form ref={form} className="flex scroll-mb-4 flex-col gap-3" onSubmit={(event) => { event.preventDefault(); onRefuse(); }}>
      <TextField label="Why not? (optional)" value={reason} maxLength={2000} onChange={(event) => { onChange(event.target.value); }} hint={onReplan ? "The reason is recorded. “Plan again” starts the task anew with it." : "The reason is recorded."} />
      <div className="flex flex-wrap gap-2">
        <Button look="danger" type="submit" busy={busy}>Refuse</Button>
        {onReplan && <Button disabled={busy || reason.trim() === ""} onClick={onReplan}>Refuse and plan again</Button>}
        <Button onClick={onBack}>Back</Button>
      </div>
    </form>
  );
}

function ArgsForm({ args, busy, onBack, onSave }: { args: object; busy: boolean; onBack: () => void; onSave: (args: Record<string, unknown>) => void }) {
  const [text, setText] = useState(() => JSON.stringify(args, null, 2));
  const [error, setError] = useState<string | null>(null);
  const save = () => {
    try {
      const edited = JSON.parse(text) as unknown;
      if (typeof edited !== "object" || edited === null || Array.isArray(edited)) throw new SyntaxError("an object is needed");
      onSave(edited as Record<string, unknown>);
    } catch (problem) {
      setError(`This is not valid JSON: ${problem instanceof Error ? problem.message : String(problem)}`);
    }
  };
  return (
    <form className="flex flex-col gap-3" onSubmit={(event) => { event.preventDefault(); save(); }}>
      <TextArea label="Arguments" rows={8} spellCheck={false} value={text} error={error} onChange={(event) => { setText(event.target.value); }} style={{ fontFamily: "var(--font-mono)", fontSize: "0.8rem" }} />
      <div className="flex gap-2">
        <Button look="primary" type="submit" busy={busy}>Approve with these</Button>
        <Button onClick={onBack}>Back</Button>
      </div>
    </form>
  );
}

function FindingForm({ ask }: { ask: Ask }) {
  const finding = useFinding(ask.approvalId, ask.digest);
  const { reason, write } = useAnswerDraft(ask.data);
  return (
    <div className="flex flex-col gap-3">
      <TextField label="How do you know? (optional)" value={reason} maxLength={2000} onChange={(event) => { write(event.target.value); }} />
      <div className="flex flex-wrap gap-2">
        <Button look="primary" busy={finding.isPending} onClick={() => { finding.mutate({ verdict: "happened", reason }); }}>It happened</Button>
        <Button disabled={finding.isPending} onClick={() => { finding.mutate({ verdict: "did_not_happen", reason }); }}>It did not happen</Button>
      </div>
    </div>
  );
}
