import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { FolderTree, Search, Share2, Users } from "lucide-react";
import { useState } from "react";
import { api, data, type Schemas } from "@/api/client";
import { meQuery, sessionsQuery } from "@/api/queries";
import { Dialog } from "@/components/dialog";
import { FolderPath } from "@/components/path";
import { Empty, Failed, Loading, useShownError } from "@/components/states";
import { Ago } from "@/components/time";
import { tell, tellProblem } from "@/components/toast";
import { Badge, Button, IconButton, PageHead, TextField } from "@/components/ui";
import { VirtualList } from "@/components/virtual-list";
import { cx } from "@/lib/cx";
import { useLater } from "@/lib/use-later";
import { useMore } from "@/lib/use-more";
import { ofTurn } from "@/session/says";

type Session = Schemas["SessionShown"];

const FILTERS = [
  { open: false, text: "All" },
  { open: true, text: "Open" },
] as const;

/** Sessions: search and filter all of them, share one, and open its conversation or workspace. */
export default function Sessions() {
  const [words, setWords] = useState("");
  const [open, setOpen] = useState(false);
  const [sharing, setSharing] = useState<Session | null>(null);
  const query = useInfiniteQuery(sessionsQuery({ words: useLater(words.trim()), open }));
  const more = useMore(query);
  const error = useShownError(query);
  const sessions = query.data?.pages.flatMap((page) => page.sessions) ?? [];
  return (
    <div className="flex h-full flex-col">
      <PageHead title="Sessions" about="Every conversation with its folder. Others see one only if you share it." />
      <div className="flex flex-wrap items-end gap-2 px-4 pb-3 md:px-6">
        <search className="relative min-w-0 flex-1 basis-56">
          <Search aria-hidden className="pointer-events-none absolute top-2.5 left-2.5 size-4 text-muted" />
          <TextField quiet label="Search sessions" type="search" placeholder="Title, folder, id or person" value={words} onChange={(event) => { setWords(event.target.value); }} className="[&_input]:pl-8.5" />
        </search>
        <div role="group" aria-label="Filter" className="flex gap-0.5 rounded-lg border border-line bg-sunken p-px">
          {FILTERS.map((filter) => (
            <button key={filter.text} type="button" aria-pressed={open === filter.open} onClick={() => { setOpen(filter.open); }} className={cx("h-8 rounded-md px-3 font-medium", open === filter.open ? "bg-surface text-ink shadow-sm dark:bg-hover" : "text-muted")}>
              {filter.text}
            </button>
          ))}
        </div>
      </div>
      <div className="min-h-0 flex-1 px-2 md:px-4">
        {query.data === undefined ? (
          error ? <Failed error={error} retry={() => void query.refetch()} /> : <Loading rows={8} />
        ) : sessions.length === 0 ? (
          <Empty icon={Search} title={words || open ? "No session matches" : "No sessions yet"}>
            {words || open ? "Try fewer words, or the filter “All”." : "Each task that you start makes one."}
          </Empty>
        ) : (
          <VirtualList items={sessions} keyOf={(session) => session.session_id} height={60} label="Sessions" more={more}>
            {(session) => <Row session={session} onShare={setSharing} />}
          </VirtualList>
        )}
      </div>
      {sharing && <ShareDialog session={sharing} onClose={() => { setSharing(null); }} />}
    </div>
  );
}

function Row({ session, onShare }: { session: Session; onShare: (session: Session) => void }) {
  const me = useQuery(meQuery).data;
  const state = session.approvals > 0 ? "awaiting_approval" : session.turn_state;
  const said = state ? ofTurn(state) : null;
  const mine = me?.principal === session.principal;
  return (
    <div className="flex items-center gap-2 border-b border-line px-2 py-2.5">
      <Link to="/chat/{-$session}" params={{ session: session.session_id }} className="min-w-0 flex-1 rounded-lg px-1 hover:underline">
        <span className="block truncate font-medium">{session.title ?? "Untitled"}</span>
        <span className="flex flex-wrap items-center gap-x-2 text-sm text-muted">
          {said && <Badge tone={said.tone}>{said.text}</Badge>}
          {session.shared && <Badge tone="accent"><Users aria-hidden className="size-3" /> {session.shared === "read" ? "can read" : "can write"}</Badge>}
          <Ago time={session.last_at} />
          {!mine && <span>by {session.principal}</span>}
          {session.root && <FolderPath path={session.root} className="max-w-full flex-1 basis-40" />}
        </span>
      </Link>
      <Link to="/workspace/{-$session}" params={{ session: session.session_id }} aria-label={`Workspace of ${session.title ?? "this session"}`} className="inline-flex size-8 items-center justify-center rounded-lg text-muted hover:bg-hover hover:text-ink">
        <FolderTree aria-hidden className="size-4" />
      </Link>
      {mine && (
        <IconButton label={`Share ${session.title ?? "this session"}`} onClick={() => { onShare(session); }}>
          <Share2 aria-hidden className="size-4" />
        </IconButton>
      )}
    </div>
  );
}

const ACCESS = [
  { access: null, text: "Private", about: "Only you, and administrators." },
  { access: "read", text: "Everyone may read", about: "People of your tenant see the conversation and the files it shows." },
  { access: "write", text: "Everyone may work in it", about: "They may also send messages, answer approvals, commit and roll back." },
] as const;

function ShareDialog({ session, onClose }: { session: Session; onClose: () => void }) {
  const client = useQueryClient();
  const path = { session_id: session.session_id };
  const share = useMutation({
    mutationFn: (access: "read" | "write" | null) =>
      access === null
        ? data(api.DELETE("/v1/sessions/{session_id}/share", { params: { path } }))
        : data(api.PUT("/v1/sessions/{session_id}/share", { params: { path }, body: { access } })),
    onSuccess: () => {
      tell("Sharing changed.");
      onClose();
    },
    onError: tellProblem,
    onSettled: () => client.invalidateQueries({ queryKey: ["sessions"] }),
  });
  return (
    <Dialog open onClose={onClose} title="Share" about={session.title}>
      <div className="flex flex-col gap-2 pt-2">
        {ACCESS.map(({ access, text, about }) => (
          <button key={text} type="button" aria-pressed={session.shared === access} disabled={share.isPending} onClick={() => { share.mutate(access); }} className={cx("rounded-xl border px-4 py-3 text-left hover:bg-hover disabled:opacity-60", session.shared === access ? "border-accent-ink" : "border-line")}>
            <span className="block font-medium">{text}</span>
            <span className="text-sm text-muted">{about}</span>
          </button>
        ))}
        <div className="flex justify-end pt-2"><Button onClick={onClose}>Close</Button></div>
      </div>
    </Dialog>
  );
}
