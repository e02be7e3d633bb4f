// The sessions beside the conversation, the newest first.
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { MessagesSquare } from "lucide-react";
import type { Schemas } from "@/api/client";
import { sessionsQuery } from "@/api/queries";
import { Empty, Failed, Loading, useShownError } from "@/components/states";
import { Ago } from "@/components/time";
import { VirtualList } from "@/components/virtual-list";
import { cx } from "@/lib/cx";
import { folderOf } from "@/lib/format";
import { useMore } from "@/lib/use-more";
import { ofTurn } from "@/session/says";

const DOTS: Record<string, string> = { warn: "bg-warn", info: "bg-info", neutral: "bg-line-strong" };

interface SessionListProps {
  current: string | undefined;
  onChoose?: () => void;
  /** The page that a session opens. */
  to?: string;
}

export function SessionList({ current, onChoose, to = "/chat/{-$session}" }: SessionListProps) {
  const query = useInfiniteQuery(sessionsQuery());
  const more = useMore(query);
  const error = useShownError(query);
  if (query.data === undefined) {
    return <div className="p-3">{error ? <Failed error={error} retry={() => void query.refetch()} /> : <Loading />}</div>;
  }
  const sessions = query.data.pages.flatMap((page) => page.sessions);
  if (sessions.length === 0) return <Empty icon={MessagesSquare} title="No sessions yet">Each task that you start appears here.</Empty>;
  return (
    <VirtualList items={sessions} keyOf={(session) => session.session_id} height={52} label="Sessions" more={more}>
      {(session) => <Row session={session} current={session.session_id === current} onChoose={onChoose} to={to} />}
    </VirtualList>
  );
}

interface RowProps {
  session: Schemas["SessionShown"];
  current: boolean;
  onChoose: (() => void) | undefined;
  to: string;
}

function Row({ session, current, onChoose, to }: RowProps) {
  const state = session.approvals > 0 ? "awaiting_approval" : session.turn_state;
  const said = state ? ofTurn(state) : null;
  return (
    <Link
      to={to}
      params={{ session: session.session_id }}
      onClick={() => onChoose?.()}
      aria-current={current ? "true" : undefined}
      className={cx("mx-2 mb-0.5 block rounded-lg px-2.5 py-2 -outline-offset-2 hover:bg-hover", current && "bg-hover")}
    >
      <span className="flex items-center gap-2">
        <span className="min-w-0 flex-1 truncate font-medium">{session.title ?? "Untitled"}</span>
        {said && <span title={said.text} className={cx("size-2 shrink-0 rounded-full", DOTS[said.tone] ?? "bg-line-strong")} />}
      </span>
      <span className="flex gap-2 text-xs whitespace-nowrap text-muted">
        <Ago time={session.last_at} />
        {said && <span>{said.text}</span>}
        {session.root && <span title={session.root} className="min-w-0 truncate">{folderOf(session.root)}</span>}
      </span>
    </Link>
  );
}
