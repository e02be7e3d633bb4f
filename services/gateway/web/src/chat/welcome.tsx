// The first meeting: what Suma does, an example folder to try it on, and the field for an own task.
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { FolderOpen, FolderPlus, ShieldCheck, Undo2, X } from "lucide-react";
import { useCallback, useId, useState } from "react";
import { api, data, type Schemas } from "@/api/client";
import { useSend } from "@/api/commands";
import { Problem } from "@/api/problem";
import { agentsQuery, folderQuery, sessionsQuery } from "@/api/queries";
import { tellProblem } from "@/components/toast";
import { Button, IconButton } from "@/components/ui";
import { restoreDraft, writeDraft } from "@/session/message-drafts";
import { Composer, focusComposer } from "./composer";
import { FolderPermission, FolderState, useFolder } from "./folder";

const EXAMPLES = ["Clean up this folder: remove duplicates and sort by type", "What takes the most space here?", "Find the duplicates, but change nothing"];

/** When a person is asked, as in the terminal: the whole diff once, or earlier as well. */
const MODES: [Schemas["Hitl"], string][] = [["bypass", "Ask once"], ["key", "Ask before each change"], ["all", "Ask before each step"]];

export function Welcome() {
  const navigate = useNavigate();
  const send = useSend();
  const [root, setRoot] = useState("");
  const [hitl, setHitl] = useState<Schemas["Hitl"]>("bypass");
  const agents = useQuery(agentsQuery()).data?.agents ?? [];
  const [agent, setAgent] = useState("");
  const [example, setExample] = useState<string | null>(null);
  const make = useMutation({
    mutationFn: () => data(api.POST("/v1/examples")),
    onSuccess: ({ root: made }) => {
      setExample(made);
      focusComposer();
    },
    onError: tellProblem,
  });
  const folder = example ?? root.trim();
  const folders = useId();
  const used = useInfiniteQuery(sessionsQuery()).data?.pages[0]?.sessions.flatMap(({ root: each }) => each ?? []) ?? [];
  const typed = useFolder(example === null ? folder : "");
  const { permission, permitted } = usePermission();
  const start = async (text: string, attachments: string[] = []) => {
    const place = example ?? (folder === "" ? undefined : await permitted(folder, text));
    const { session_id } = await send.mutateAsync({ text, hitl, attachments, agent: agent || undefined, root: place });
    await navigate({ to: "/chat/{-$session}", params: { session: session_id } });
  };
  return (
    <div className="h-full overflow-y-auto" tabIndex={0} role="region" aria-label="New task">
      <div className="mx-auto flex min-h-full max-w-2xl flex-col justify-center gap-5 px-4 py-10">
        <div>
          <h1 className="text-2xl font-semibold tracking-tight">What should be done?</h1>
          <p className="pt-1 text-muted">Suma plans the task, shows each change before it happens, and can undo it.</p>
        </div>
        <Composer of="new" placeholder="Describe a task…" busy={send.isPending || permission !== null} focused onSend={start}>
          {example ? (
            <span className="flex max-w-full min-w-0 items-center gap-1.5 rounded-lg bg-accent-tint py-0.5 pr-0.5 pl-2 text-sm text-accent-ink">
              <FolderOpen aria-hidden className="size-4 shrink-0" />
              <span className="truncate" title={example}>Example folder</span>
              <IconButton label="Do not use the example folder" onClick={() => { setExample(null); }} className="size-6">
                <X aria-hidden className="size-3.5" />
              </IconButton>
            </span>
          ) : (
            <label className="flex min-w-0 flex-1 items-center gap-1.5 text-sm text-muted max-sm:basis-full">
              <FolderOpen aria-hidden className="size-4 shrink-0" />
              <span className="sr-only">Folder</span>
              <datalist id={folders}>
                {[...new Set([...used, ...(typed?.suggestions ?? [])])].map((path) => <option key={path} value={path} />)}
              </datalist>
              <input value={root} onChange={(event) => { setRoot(event.target.value); }} placeholder="Folder, such as ~/Downloads" spellCheck={false} list={folders} className="h-7 min-w-0 flex-1 rounded-md bg-transparent px-1 text-ellipsis placeholder:text-muted" />
            </label>
          )}
          <select
            aria-label="When to ask"
            value={hitl}
            onChange={(event) => { setHitl(event.target.value as Schemas["Hitl"]); }}
            className="h-7 field-sizing-content rounded-md bg-transparent px-1 text-sm text-muted hover:text-ink"
          >
            {MODES.map(([mode, title]) => <option key={mode} value={mode}>{title}</option>)}
          </select>
          {agents.length > 0 && (
            <select aria-label="Agent" title={agents.find(({ name }) => name === agent)?.role} value={agent} onChange={(event) => { setAgent(event.target.value); }} className="h-7 field-sizing-content rounded-md bg-transparent px-1 text-sm text-muted hover:text-ink">
              <option value="">Default agent</option>
              {agents.map(({ name }) => <option key={name} value={name}>{name}</option>)}
            </select>
          )}
        </Composer>
        {typed && !permission && <FolderState folder={typed} />}
        {permission && <FolderPermission {...permission} />}
        {example ? <Suggestions onChoose={(text) => { start(text).catch(() => undefined); }} busy={send.isPending} /> : (
          <div className="flex flex-wrap items-center gap-3 rounded-xl border border-line bg-surface p-4">
            <div className="min-w-0 flex-1 basis-60">
              <p className="font-medium">New here? Try it on an example.</p>
              <p className="text-sm text-muted">Suma makes a messy folder of its own, with 47 files to clean up.</p>
            </div>
            <Button busy={make.isPending} onClick={() => { make.mutate(); }}>
              <FolderPlus aria-hidden className="size-4" /> Make an example folder
            </Button>
          </div>
        )}
        <ul className="flex flex-wrap gap-x-6 gap-y-2 text-sm text-muted">
          <li className="flex items-center gap-2"><ShieldCheck aria-hidden className="size-4" /> Nothing changes before you approve it</li>
          <li className="flex items-center gap-2"><Undo2 aria-hidden className="size-4" /> Each change can be undone</li>
        </ul>
      </div>
    </div>
  );
}

interface Asked {
  path: string;
  onAllowed: () => void;
  onCancel: () => void;
}

/** The open question for a permission; `permitted` returns a folder's whole path once it is allowed. */
function usePermission() {
  const client = useQueryClient();
  const [permission, setPermission] = useState<Asked | null>(null);
  const permitted = useCallback(
    async (path: string, text: string) => {
      const found = await client.fetchQuery({ ...folderQuery(path), staleTime: 0 }).catch((error: unknown) => {
        tellProblem(error);
        throw error;
      });
      if (found.state === "allowed") return found.path;
      if (found.state !== "needs_permission") throw new Problem(-1, "NO_FOLDER", found.detail);
      // Its owner may look at the page again, or reload it, before the folder is allowed.
      restoreDraft("new", text);
      await new Promise<void>((resolve, reject) => {
        const end = (next: () => void) => () => {
          setPermission(null);
          next();
        };
        setPermission({ path: found.path, onAllowed: end(resolve), onCancel: end(() => { reject(new Problem(-1, "CANCELLED", "nothing was started")); }) });
      });
      writeDraft("new", "");
      return found.path;
    },
    [client],
  );
  return { permission, permitted };
}

function Suggestions({ onChoose, busy }: { onChoose: (text: string) => void; busy: boolean }) {
  return (
    <div role="group" aria-label="Suggestions" className="flex flex-wrap gap-2">
      {EXAMPLES.map((text) => (
        <button key={text} type="button" disabled={busy} onClick={() => { onChoose(text); }} className="rounded-full border border-line bg-surface px-3 py-1.5 text-left text-sm hover:bg-hover disabled:opacity-60">
          {text}
        </button>
      ))}
    </div>
  );
}
