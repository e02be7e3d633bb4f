import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ChevronRight, MailX, RotateCcw, Trash2 } from "lucide-react";
import { useState } from "react";
import { api, data, newKey, type Schemas } from "@/api/client";
import { useMay } from "@/api/queries";
import { Dialog } from "@/components/dialog";
import { Json } from "@/components/json";
import { Empty, Failed, Loaded, Loading, useShownError } from "@/components/states";
import { Ago } from "@/components/time";
import { tell, tellProblem } from "@/components/toast";
import { Badge, Button, Card, Page, TextArea } from "@/components/ui";
import { count, words } from "@/lib/format";

type Letter = Schemas["LetterShown"];

const PAGE = 200;
const FIRST = 20;
const KEY = ["dead-letters"];

const once = () => ({ "Idempotency-Key": newKey() });

/** Dead letters: the events that no retry can save, grouped by their cause; replay or discard them. */
export default function DeadLetters() {
  const query = useInfiniteQuery({
    queryKey: KEY,
    queryFn: ({ pageParam }) => data(api.GET("/v1/admin/dlq", { params: { query: { before: pageParam, limit: PAGE } } })),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
    // Each read is recorded in the audit log, so the list is not polled.
    staleTime: Infinity,
  });
  const error = useShownError(query);
  const letters = query.data?.pages.flatMap((page) => page.letters) ?? [];
  const codes = Object.entries(query.data?.pages.at(-1)?.codes ?? {});
  return (
    <Page title="Dead letters" about="Events that could not be handled. Mend the cause, then replay them." actions={<Button onClick={() => void query.refetch()}>Refresh</Button>}>
      {query.data === undefined ? (
        error ? <Failed error={error} retry={() => void query.refetch()} /> : <Loading />
      ) : letters.length === 0 ? (
        <Empty icon={MailX} title="No dead letters">Every event was handled, or is still being retried.</Empty>
      ) : (
        <div className="flex flex-col gap-4">
          {codes.map(([code, all]) => <Group key={code} code={code} all={all} letters={letters.filter((letter) => letter.code === code)} />)}
          {query.hasNextPage && <Button busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>Show older ones</Button>}
        </div>
      )}
    </Page>
  );
}

/** The letters of one cause: `all` are open, and these were read so far. */
function Group({ code, all, letters }: { code: string; all: number; letters: Letter[] }) {
  const write = useMay("admin.dlq.write");
  const admin = useMay("admin");
  const may = write || admin;
  const [asked, setAsked] = useState<"replay" | "discard" | null>(null);
  const [shown, setShown] = useState(FIRST);
  return (
    <Card aria-label={code}>
      <header className="flex flex-wrap items-center gap-2 border-b border-line px-4 py-3">
        <h2 className="min-w-0 flex-1 basis-44 font-semibold">
          {words(code)} <span className="font-normal text-muted">{count(all, "letter")}{letters.length < all && `, ${letters.length.toString()} of them read`}</span>
        </h2>
        {may && (
          <>
            <Button size="small" onClick={() => { setAsked("replay"); }}><RotateCcw aria-hidden className="size-3.5" /> Replay all</Button>
            <Button size="small" look="danger" onClick={() => { setAsked("discard"); }}><Trash2 aria-hidden className="size-3.5" /> Discard all</Button>
          </>
        )}
      </header>
      <ul>{letters.slice(0, shown).map((letter) => <Row key={letter.letter_id} letter={letter} may={may} />)}</ul>
      {letters.length > shown && (
        <div className="p-3"><Button size="small" look="quiet" onClick={() => { setShown(shown + PAGE); }}>Show more</Button></div>
      )}
      {asked && <CloseMany verb={asked} code={code} onClose={() => { setAsked(null); }} />}
    </Card>
  );
}

function Row({ letter, may }: { letter: Letter; may: boolean }) {
  const [open, setOpen] = useState(false);
  const [asked, setAsked] = useState<"replay" | "discard" | null>(null);
  return (
    <li className="border-b border-line last:border-b-0">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2.5">
        <button type="button" aria-expanded={open} onClick={() => { setOpen(!open); }} className="flex min-w-0 flex-1 basis-56 items-center gap-2 rounded text-left">
          <ChevronRight aria-hidden className={open ? "size-4 shrink-0 rotate-90 text-muted" : "size-4 shrink-0 text-muted"} />
          <span className="min-w-0">
            <span className="block truncate font-medium">{letter.event_type}</span>
            <span className="block truncate text-sm text-muted">{letter.group}: {letter.error}</span>
          </span>
        </button>
        {letter.stale && <Badge tone="warn">its turn is over</Badge>}
        <span className="text-sm text-muted"><Ago time={letter.died_at} /></span>
        {may && (
          <span className="flex gap-1">
            <Button size="small" disabled={letter.stale} onClick={() => { setAsked("replay"); }}>Replay</Button>
            <Button size="small" look="danger" onClick={() => { setAsked("discard"); }}>Discard</Button>
          </span>
        )}
      </div>
      {open && <Original letter={letter} />}
      {asked && <CloseOne verb={asked} letter={letter} onClose={() => { setAsked(null); }} />}
    </li>
  );
}

function Original({ letter }: { letter: Letter }) {
  const query = useQuery({
    queryKey: [...KEY, letter.letter_id],
    queryFn: () => data(api.GET("/v1/admin/dlq/{letter_id}", { params: { path: { letter_id: letter.letter_id } } })),
    staleTime: Infinity,
  });
  return (
    <div className="flex flex-col gap-2 px-4 pb-3 pl-10">
      <p className="text-sm [overflow-wrap:anywhere]">{letter.error}</p>
      <p className="flex flex-wrap gap-x-4 text-sm text-muted">
        <span>{count(letter.attempts, "attempt")}</span>
        {letter.session_id && <Link to="/chat/{-$session}" params={{ session: letter.session_id }} className="text-accent-ink hover:underline">Open the session</Link>}
      </p>
      <Loaded query={query}>{(read) => read.problem ? <p className="text-sm text-warn">{read.problem}</p> : <Json label="Original event" value={read.original} />}</Loaded>
    </div>
  );
}

interface CloseProps { verb: "replay" | "discard"; onClose: () => void }

function CloseOne({ verb, letter, onClose }: CloseProps & { letter: Letter }) {
  const send = (reason: string) => {
    const params = { path: { letter_id: letter.letter_id }, header: once() };
    return verb === "replay"
      ? data(api.POST("/v1/admin/dlq/{letter_id}/replay", { params, body: { reason } }))
      : data(api.POST("/v1/admin/dlq/{letter_id}/discard", { params, body: { reason } }));
  };
  return <Ask verb={verb} what="this dead letter" onClose={onClose} send={async (reason) => words((await send(reason)).outcome)} />;
}

function CloseMany({ verb, code, onClose }: CloseProps & { code: string }) {
  const send = async (reason: string) => {
    let before: string | null | undefined;
    const sum = { replayed: 0, discarded: 0, stale: 0 };
    // One transaction closes a hundred; go on until none is left.
    do {
      const body = { code, reason, before: before ?? null, limit: 100 };
      const params = { header: once() };
      const done = await (verb === "replay" ? data(api.POST("/v1/admin/dlq/replay", { params, body })) : data(api.POST("/v1/admin/dlq/discard", { params, body })));
      sum.replayed += done.replayed;
      sum.discarded += done.discarded;
      sum.stale += done.stale;
      before = done.next;
    } while (before);
    return [count(sum.replayed + sum.discarded, "letter"), sum.stale > 0 ? `${sum.stale.toString()} left, because their turns are over` : ""].filter(Boolean).join("; ");
  };
  return <Ask verb={verb} what={`all dead letters with the cause “${words(code)}”`} onClose={onClose} send={send} />;
}

/** Ask for the reason, which is kept with the letter, and act. */
function Ask({ verb, what, send, onClose }: CloseProps & { what: string; send: (reason: string) => Promise<string> }) {
  const client = useQueryClient();
  const [reason, setReason] = useState("");
  const act = useMutation({
    mutationFn: () => send(reason.trim()),
    onSuccess: (outcome) => {
      tell(`${verb === "replay" ? "Replayed" : "Discarded"}: ${outcome}.`);
      onClose();
    },
    onError: tellProblem,
    onSettled: () => client.invalidateQueries({ queryKey: KEY }),
  });
  const needed = verb === "discard";
  return (
    <Dialog open onClose={onClose} title={verb === "replay" ? "Replay" : "Discard"} about={verb === "replay" ? `Deliver ${what} again, to the service that failed.` : `Close ${what} for good. The event is not handled.`}>
      <form className="flex flex-col gap-3 pt-2" onSubmit={(event) => { event.preventDefault(); act.mutate(); }}>
        <TextArea label={needed ? "Reason" : "Reason (optional)"} rows={2} required={needed} value={reason} onChange={(event) => { setReason(event.target.value); }} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look={needed ? "danger" : "primary"} busy={act.isPending} disabled={act.isPending || (needed && reason.trim() === "")}>
            {needed ? "Discard" : "Replay"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
