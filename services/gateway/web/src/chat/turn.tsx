// One turn: the message, the plans and questions in between, and the answer.
import { Brain, Paperclip, Pencil, Redo2, RotateCcw, Sparkles, Undo2, X } from "lucide-react";
import { memo, type ReactNode, useState } from "react";
import { useCancel, useSend } from "@/api/commands";
import { DiffList, DiffSummary } from "@/components/diff-list";
import { Markdown } from "@/components/markdown";
import { Thumbs } from "@/components/thumbs";
import { Ago, Elapsed } from "@/components/time";
import { Badge, Button, Card, Spinner } from "@/components/ui";
import { count, duration } from "@/lib/format";
import { restoreDraft } from "@/session/message-drafts";
import { type commitsOf, waited } from "@/session/reduce";
import { committedOf, ofTask } from "@/session/says";
import { type ApprovalView, ENDED, type Question, type TurnView } from "@/session/types";
import { type Ask, ApprovalCard } from "./approval-card";
import { focusComposer } from "./composer";
import { PlanCard } from "./plan-card";
import { UndoDialog } from "./undo-dialog";

interface TurnProps {
  session: string;
  turn: TurnView;
  draft: string;
  /** What became of each commit of this session. */
  commits: ReturnType<typeof commitsOf>;
}

export const Turn = memo(function Turn({ session, turn, draft, commits }: TurnProps) {
  const ended = ENDED.has(turn.state);
  if (turn.undo) return <UndoLine session={session} turn={turn} commits={commits} />;
  const committed = turn.changes.find(({ change }) => change === "committed");
  const taken = committed?.commit_id ? (commits.get(committed.commit_id)?.undone ?? false) : false;
  return (
    <article aria-label={`Task: ${turn.text}`} className="flex flex-col gap-3">
      <div className="flex flex-col items-end gap-1">
        <h2 className="max-w-[85%] rounded-2xl rounded-br-md bg-accent-tint px-3.5 py-2 [overflow-wrap:anywhere] whitespace-pre-wrap">{turn.text}</h2>
        {turn.attachments.map(({ asset_id, filename }) => (
          <a key={asset_id} href={`/v1/assets/${encodeURIComponent(asset_id)}`} download={filename} className="flex max-w-[85%] items-center gap-1.5 rounded text-sm text-accent-ink hover:underline">
            <Paperclip aria-hidden className="size-3.5 shrink-0" /> <span className="min-w-0 truncate">{filename}</span>
          </a>
        ))}
        {turn.acceptedAt && <span className="text-xs text-muted">{turn.agent && `${turn.agent} · `}<Ago time={turn.acceptedAt} /></span>}
      </div>
      {turn.rounds.map((round, at) => (
        <PlanCard key={round.plan.plan_id + at.toString()} session={session} round={round} number={at + 1} before={turn.rounds[at - 1] ?? null} approvals={turn.approvals} open={!ended} task={turn.text} committed={committedOf(turn)} />
      ))}
      {turn.questions.map((question, at) => (
        <QuestionCard key={at} session={session} turn={turn} question={question} open={!ended && question.reply === null} />
      ))}
      {turn.approvals.map((approval) => (
        <ApprovalCard key={approval.asked.approval_id} ask={askOf(session, approval, ended)} task={turn.text} />
      ))}
      {turn.changes.map((change, at) => (
        <ChangeCard key={at} session={session} turn={turn.id} change={change} commits={commits} />
      ))}
      {turn.missing.length > 0 && (
        <p className="flex items-center gap-2 text-sm text-warn"><Brain aria-hidden className="size-4" /> Continued without {turn.missing.join(", ")}.</p>
      )}
      {(turn.answer ?? draft) && (
        <div className="flex gap-3" aria-live="polite" aria-busy={turn.answer === null}>
          <span aria-hidden className="mt-0.5 flex size-7 shrink-0 items-center justify-center rounded-lg bg-accent-tint text-accent-ink"><Sparkles className="size-4" /></span>
          <div className="min-w-0 flex-1"><Markdown text={turn.answer ?? draft} /></div>
        </div>
      )}
      <Footer session={session} turn={turn} undone={taken} />
    </article>
  );
});

const TURNED = {
  undo: { label: "Undo", icon: Undo2, doing: "Undoing…", done: "undone", state: "rolled_back" },
  redo: { label: "Redo", icon: Redo2, doing: "Redoing…", done: "made again", state: "committed" },
} as const;

/** An undo or redo is an event, not a message. A refused one changed nothing, and was reported when it was asked for. */
function UndoLine({ session, turn, commits }: { session: string; turn: TurnView; commits: TurnProps["commits"] }) {
  const { label, icon: Icon, doing, done, state } = TURNED[turn.undo ?? "undo"];
  const made = turn.changes.find(({ change, operations }) => change === state && operations);
  const ended = ENDED.has(turn.state);
  const last = made?.commit_id && commits.get(made.commit_id)?.turn === turn.id ? made.commit_id : null;
  if (turn.state === "refused") return null;
  return (
    <article aria-label={label} className="flex flex-col gap-2">
      <p className="flex flex-wrap items-center gap-2 text-sm text-muted">
        {ended ? <Icon aria-hidden className="size-4" /> : <Spinner className="size-3.5" />}
        {made?.operations ? `${count(made.operations, "change")} ${done}` : ended ? (turn.answer ?? turn.detail) : doing}
        {turn.endedAt && <Ago time={turn.endedAt} />}
        {last && <UndoButton session={session} commit={last} redo={turn.undo === "undo"} />}
      </p>
      {turn.changes.map((change, at) => change.change === "conflicted" && <Conflicts key={at} paths={change.conflicts ?? []} />)}
    </article>
  );
}

/** Offers to undo a commit, or to redo one that was undone. */
function UndoButton({ session, commit, redo }: { session: string; commit: string; redo: boolean }) {
  const [asking, setAsking] = useState(false);
  const Icon = redo ? Redo2 : Undo2;
  return (
    <>
      <Button size="small" onClick={() => { setAsking(true); }}>
        <Icon aria-hidden className="size-3.5" /> {redo ? "Redo" : "Undo"}
      </Button>
      {asking && <UndoDialog session={session} target={{ commit_id: commit, redo }} onClose={() => { setAsking(false); }} />}
    </>
  );
}

function askOf(session: string, { asked, askedAt, closed }: ApprovalView, ended: boolean): Ask {
  // A question about an effect stays open when its turn has ended.
  const over = closed === null && ended && asked.kind !== "effect";
  return {
    session,
    approvalId: asked.approval_id,
    kind: asked.kind,
    digest: asked.digest,
    data: asked,
    askedAt,
    expiresAt: new Date(Date.parse(askedAt) + asked.expires_in * 1000).toISOString(),
    outcome: closed?.outcome ?? (over ? "cancelled" : null),
    reason: closed?.reason ?? null,
    principal: closed?.principal ?? null,
  };
}

function QuestionCard({ session, turn, question, open }: { session: string; turn: TurnView; question: Question; open: boolean }) {
  const send = useSend();
  const { candidates = [], offers = [] } = question.asked;
  return (
    <Card className={open ? "border-warn/50 p-4" : "p-4"} aria-label="Question">
      <div className="font-medium [overflow-wrap:anywhere]"><Markdown text={question.asked.question} /></div>
      {open && candidates.length > 0 && (
        <div className="flex flex-col gap-1.5 pt-2">
          {candidates.map(({ skill, score, description }) => (
            <button key={skill} type="button" disabled={send.isPending} onClick={() => { send.mutate({ session, text: skill, skill }); }} className="flex items-baseline gap-2 rounded-lg border border-line px-3 py-2 text-left hover:bg-hover disabled:opacity-60">
              <span className="font-medium">{skill}</span>
              <span className="min-w-0 flex-1 text-sm text-muted">{description}</span>
              <span className="text-xs text-muted tabular-nums">{Math.round(score * 100)} %</span>
            </button>
          ))}
        </div>
      )}
      {open && (
        <div className="flex flex-wrap items-center gap-2 pt-3">
          {offers.map((offer) => (
            <Button key={offer} size="small" disabled={send.isPending} onClick={() => { send.mutate({ session, text: offer }); }} className="h-auto! min-h-7 max-w-full py-1 text-left [overflow-wrap:anywhere] whitespace-normal">{offer}</Button>
          ))}
          <TakeBack session={session} turn={turn}><RotateCcw aria-hidden className="size-3.5" /> Start over</TakeBack>
        </div>
      )}
      {open && <p className="pt-2 text-sm text-muted">Or answer below in your own words.</p>}
      {question.reply !== null && <p className="pt-1 text-sm text-muted">You answered: “{question.reply}”</p>}
    </Card>
  );
}

const CHANGES: Record<string, string> = {
  committed: "Changes made",
  rolled_back: "Changes undone",
  dropped: "Proposed changes discarded",
  conflicted: "Not changed: these files were modified meanwhile",
};

function ChangeCard({ session, turn, change, commits }: { session: string; turn: string; change: TurnView["changes"][number]; commits: TurnProps["commits"] }) {
  const commit = change.change === "committed" && change.operations ? change.commit_id : null;
  const now = commit ? commits.get(commit) : undefined;
  return (
    <Card className="p-4" aria-label={CHANGES[change.change] ?? change.change}>
      <div className="flex flex-wrap items-center gap-2">
        <h3 className="font-semibold">{CHANGES[change.change] ?? change.change}</h3>
        {now?.undone && <Badge>undone since</Badge>}
        {change.diff && <DiffSummary diff={change.diff} />}
        <span className="flex-1" />
        {commit && now?.turn === turn && <UndoButton session={session} commit={commit} redo={false} />}
      </div>
      <Conflicts paths={change.conflicts ?? []} />
      {change.diff && (
        <details className="pt-1">
          <summary className="w-fit rounded py-1 text-sm font-medium text-accent-ink">Show {count(change.diff.count, "change")}</summary>
          <DiffList diff={change.diff} />
        </details>
      )}
    </Card>
  );
}

function Conflicts({ paths }: { paths: readonly string[] }) {
  if (paths.length === 0) return null;
  return <ul className="pt-2 text-sm text-danger">{paths.map((path) => <li key={path} className="[overflow-wrap:anywhere]">{path}</li>)}</ul>;
}

/** Send a task again that failed, with its files. */
function TryAgain({ session, turn }: { session: string; turn: TurnView }) {
  const send = useSend();
  const again = { session, text: turn.text, attachments: turn.attachments.map(({ asset_id }) => asset_id) };
  return <Button size="small" busy={send.isPending} onClick={() => { send.mutate(again); }}>Try again</Button>;
}

/** Cancels a task, and gives its text back to the message field. */
function TakeBack({ session, turn, children }: { session: string; turn: TurnView; children: ReactNode }) {
  const cancel = useCancel();
  // The turn may end, and this go, before the request does; callbacks of `mutate` would then not be called.
  const take = () => { cancel.mutateAsync(turn.id).then(() => { restoreDraft(session, turn.text); focusComposer(); }, () => undefined); };
  return <Button look="quiet" size="small" disabled={cancel.isPending} onClick={take}>{children}</Button>;
}

/** What a person can do with a task that waits for its turn. */
function Queued({ session, turn }: { session: string; turn: TurnView }) {
  const cancel = useCancel();
  return (
    <>
      <span>number {turn.position} in the queue</span>
      <TakeBack session={session} turn={turn}><Pencil aria-hidden className="size-3.5" /> Edit</TakeBack>
      <Button look="quiet" size="small" disabled={cancel.isPending} onClick={() => { cancel.mutate(turn.id); }}><X aria-hidden className="size-3.5" /> Remove</Button>
    </>
  );
}

/** How long a turn was at work, and how long it waited for a person. */
function Took({ turn, from, to }: { turn: TurnView; from: string; to: string }) {
  const [whole, waiting] = [Date.parse(to) - Date.parse(from), waited(turn)];
  return <span className="tabular-nums">{duration(whole - waiting)}{waiting >= 1000 && ` at work, waited ${duration(waiting)} for you`}</span>;
}

/** The state of the turn, and why it ended. */
function Footer({ session, turn, undone }: { session: string; turn: TurnView; undone: boolean }) {
  const { text, tone } = ofTask(turn, undone);
  const ended = ENDED.has(turn.state);
  const waits = turn.state.startsWith("awaiting");
  const tokens = (turn.usage?.input_tokens ?? 0) + (turn.usage?.output_tokens ?? 0);
  const price = (turn.usage?.cost_micros ?? 0) / 1e6;
  return (
    <footer className="flex flex-wrap items-center gap-x-2 gap-y-1 text-sm text-muted">
      <Badge tone={tone}>{!ended && !waits && <Spinner className="size-3" />}{text}</Badge>
      {turn.position !== null && !ended && <Queued session={session} turn={turn} />}
      {!ended && !waits && turn.startedAt && <Elapsed since={turn.startedAt} />}
      {turn.startedAt && turn.endedAt && <Took turn={turn} from={turn.startedAt} to={turn.endedAt} />}
      {ended && turn.answer && <Thumbs subject={turn.id} of="answer" />}
      {tokens > 0 && <span className="tabular-nums">{tokens.toLocaleString("en")} tokens{price > 0 && `, $${price.toFixed(4)}`}</span>}
      {turn.state !== "completed" && turn.detail && <span className="basis-full [overflow-wrap:anywhere] text-ink">{turn.detail}</span>}
      {(turn.state === "failed" || turn.state === "refused") && turn.text && <TryAgain session={session} turn={turn} />}
    </footer>
  );
}
