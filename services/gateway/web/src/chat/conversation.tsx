// A session's turns as they happen, and the message field below them.
import { Link } from "@tanstack/react-router";
import { FolderOpen, FolderTree, RefreshCw } from "lucide-react";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";
import { type Proposal, useCancel, useReplan, useSend } from "@/api/commands";
import { queryClient, sessionQuery } from "@/api/queries";
import { FolderPath } from "@/components/path";
import { Failed, Loading } from "@/components/states";
import { Badge, Choice } from "@/components/ui";
import { openTurn, commitsOf } from "@/session/reduce";
import { useLive } from "@/session/use-live";
import type { Connection } from "@/session/live";
import type { TurnView } from "@/session/types";
import { Live } from "./command";
import { Composer } from "./composer";
import { Marks } from "./marks";
import { Turn } from "./turn";

/** Pixels from the end within which the view follows new text. */
const NEAR_END = 120;
/** Pixels above the beginning of a long question. */
const MARGIN = 16;

export function Conversation({ session }: { session: string }) {
  const { view, drafts, connection, problem } = useLive(session);
  const about = useQuery(sessionQuery(session));
  const send = useSend();
  const cancel = useCancel();
  const replan = useReplan();
  const [later, setLater] = useState(false);
  const open = openTurn(view.turns);
  const commits = useMemo(() => commitsOf(view.turns), [view.turns]);
  const end = useFollowing(view.seq, drafts?.text.length ?? 0);
  const openState = open?.state;
  useEffect(() => {
    void queryClient.invalidateQueries({ queryKey: ["approvals"] });
    void queryClient.invalidateQueries({ queryKey: ["sessions"] });
  }, [openState]);
  if (connection === "refused" && problem) return <Failed whole error={problem} />;
  const waits = open?.state === "awaiting_clarification";
  const proposal = open ? proposalOf(session, open) : null;
  const steers = proposal !== null && !later;
  const known = about.data;
  return (
    <div className="flex h-full flex-col">
      <div className="flex items-center gap-3 border-b border-line px-4 py-2.5 md:px-6">
        <div className="min-w-0 flex-1">
          <h1 className="truncate font-semibold">{known?.title ?? view.turns[0]?.text ?? "Session"}</h1>
          {known?.root && (
            <p className="flex items-center gap-1.5 text-xs text-muted"><FolderOpen aria-hidden className="size-3.5 shrink-0" /><FolderPath path={known.root} /></p>
          )}
        </div>
        <ConnectionBadge connection={connection} />
        {known?.root && (
          <Link to="/workspace/{-$session}" params={{ session }} className="inline-flex h-8 shrink-0 items-center gap-1.5 rounded-lg px-2 font-medium text-muted hover:bg-hover hover:text-ink">
            <FolderTree aria-hidden className="size-4" /> <span className="max-sm:sr-only">Workspace</span>
          </Link>
        )}
      </div>
      <Marks turns={view.turns} />
      <div ref={end} className="min-h-0 flex-1 overflow-y-auto" tabIndex={0} role="region" aria-label="Conversation">
        <div className="mx-auto flex max-w-3xl flex-col gap-8 px-4 py-6">
          {view.turns.length === 0 && connection !== "live" && (problem ? <Failed error={problem} /> : <Loading label="Loading the conversation" />)}
          <Live value={drafts}>
            {view.turns.map((turn) => (
              <Turn key={turn.id} session={session} turn={turn} commits={commits} draft={drafts?.turn === turn.id && drafts.step === null ? drafts.text : ""} />
            ))}
          </Live>
        </div>
      </div>
      <div className="mx-auto w-full max-w-3xl px-4 pb-3 md:pb-5">
        <Composer
          of={session}
          placeholder={placeholder(waits, steers, open !== null)}
          busy={send.isPending || replan.isPending}
          focused
          onSend={(text, attachments) => (steers ? replan.mutateAsync({ ...proposal, change: text, attachments }) : send.mutateAsync({ text, session, attachments }))}
          onStop={open ? () => { cancel.mutate(open.id); } : undefined}
          stopping={cancel.isPending}
        >
          {proposal && <Choice label="What Enter does" options={STEERING} value={later ? "later" : "change"} onChange={(to) => { setLater(to === "later"); }} />}
        </Composer>
      </div>
    </div>
  );
}

const STEERING = [
  { value: "change", text: "Change this plan" },
  { value: "later", text: "Do afterwards" },
] as const;

function placeholder(waits: boolean, steers: boolean, open: boolean): string {
  if (waits) return "Answer the question…";
  if (steers) return "What shall be different?";
  return open ? "Write the next task; it runs after this one…" : "Ask for the next task…";
}

/** The open proposal of a turn, which a person may change in words. An effect that happened can't be planned again. */
function proposalOf(session: string, { text, approvals }: TurnView): Proposal | null {
  const open = approvals.findLast(({ asked, closed }) => closed === null && asked.kind !== "effect");
  return open ? { session, approval: open.asked.approval_id, digest: open.asked.digest, task: text } : null;
}

function ConnectionBadge({ connection }: { connection: Connection }) {
  return (
    <span role="status">
      {connection === "reconnecting" && (
        <Badge tone="warn"><RefreshCw aria-hidden className="size-3 animate-spin" /> Reconnecting…</Badge>
      )}
    </span>
  );
}

/** Scroll to the end; of an open question that is longer than the view, to its beginning, since what it deletes stands first. */
function toEnd(place: HTMLElement): void {
  const asks = place.querySelector<HTMLElement>("[data-asks]");
  const top = asks && asks.offsetHeight > place.clientHeight - MARGIN ? asks.offsetTop - place.offsetTop - MARGIN : place.scrollHeight;
  place.scrollTop = top;
}

/** Keep the end in view while new events arrive, unless the person has scrolled up to read. */
function useFollowing(seq: number, length: number) {
  const box = useRef<HTMLDivElement>(null);
  const near = useRef(true);
  useEffect(() => {
    const place = box.current;
    if (!place) return;
    const scrolled = () => { near.current = place.scrollHeight - place.scrollTop - place.clientHeight < NEAR_END; };
    // A window that shrinks, as for a keyboard on the screen, must not hide the end.
    const fits = new ResizeObserver(() => { if (near.current) toEnd(place); });
    place.addEventListener("scroll", scrolled, { passive: true });
    fits.observe(place);
    return () => {
      place.removeEventListener("scroll", scrolled);
      fits.disconnect();
    };
  }, []);
  useEffect(() => {
    const place = box.current;
    if (place && near.current) toEnd(place);
  }, [seq, length]);
  return box;
}
