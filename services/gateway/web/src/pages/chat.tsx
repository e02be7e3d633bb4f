import { useParams } from "@tanstack/react-router";
import { MessagesSquare } from "lucide-react";
import { useState } from "react";
import { Conversation } from "@/chat/conversation";
import { SessionList } from "@/chat/session-list";
import { Welcome } from "@/chat/welcome";
import { Dialog } from "@/components/dialog";
import { Button } from "@/components/ui";

/** Chat: the sessions, and the one that is open or a new task. */
export default function Chat() {
  const { session } = useParams({ strict: false }) as { session?: string };
  const [list, setList] = useState(false);
  return (
    <div className="flex h-full">
      <aside aria-label="Sessions" className="hidden w-64 shrink-0 flex-col border-r border-line lg:flex">
        <h2 className="px-4 pt-4 pb-2 text-sm font-medium text-muted">Sessions</h2>
        <div className="min-h-0 flex-1">
          <SessionList current={session} />
        </div>
      </aside>
      <div className="flex min-w-0 flex-1 flex-col">
        <div className="px-3 pt-2 lg:hidden">
          <Button look="quiet" size="small" onClick={() => { setList(true); }}>
            <MessagesSquare aria-hidden className="size-4" /> Sessions
          </Button>
        </div>
        <div className="min-h-0 flex-1">{session ? <Conversation key={session} session={session} /> : <Welcome />}</div>
      </div>
      <Dialog open={list} onClose={() => { setList(false); }} title="Sessions">
        <div className="-mx-2 h-[55vh]">
          <SessionList current={session} onChoose={() => { setList(false); }} />
        </div>
      </Dialog>
    </div>
  );
}
