import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { ChevronRight, File, FileSymlink, Folder, FolderGit2, FolderTree, Redo2, RotateCcw, Undo2 } from "lucide-react";
import { Tabs } from "radix-ui";
import { lazy, Suspense, useEffect, useMemo, useState } from "react";
import type { Schemas } from "@/api/client";
import { useAnswer } from "@/api/commands";
import type { DiffEntry } from "@/api/generated/events";
import { diffQuery, graphQuery, logQuery, sessionApprovalsQuery, sessionQuery, snapshotsQuery } from "@/api/queries";
import { SessionList } from "@/chat/session-list";
import { UndoDialog } from "@/chat/undo-dialog";
import { DiffRow, DiffSummary } from "@/components/diff-list";
import { Dialog } from "@/components/dialog";
import { FolderPath } from "@/components/path";
import { Empty, Loaded, Loading } from "@/components/states";
import { Ago } from "@/components/time";
import { Badge, Button, Card, PageHead, TextField } from "@/components/ui";
import { VirtualList } from "@/components/virtual-list";
import { cx } from "@/lib/cx";
import { bytes, count } from "@/lib/format";
import { toggled } from "@/lib/toggled";
import { useAnswerDraft } from "@/session/answer-drafts";
import { stageMoves } from "@/session/reduce";
import { useLive } from "@/session/use-live";
import { rowsOf, treeOf, type Row, type TreeNode } from "@/workspace/tree";

const FileDiff = lazy(() => import("@/workspace/text-diff"));
const GraphView = lazy(() => import("@/workspace/graph-view"));
/** What is read of a session's stage. */
const STAGED = new Set(["graph", "diff", "snapshots", "approvals"]);
const TABS = ["changes", "files", "graph", "history"] as const;

/** Workspace: a session's folder as it would be, what a commit would change, and what can be taken back. */
export default function Workspace() {
  const { session } = useParams({ strict: false }) as { session?: string };
  return session ? <Of key={session} session={session} /> : <Choose />;
}

function Choose() {
  return (
    <div className="flex h-full flex-col">
      <PageHead title="Workspace" about="Choose a session to see its folder, and the changes that it proposes." />
      <div className="min-h-0 flex-1 md:px-4">
        <SessionList current={undefined} to="/workspace/{-$session}" />
      </div>
    </div>
  );
}

function Of({ session }: { session: string }) {
  const about = useQuery(sessionQuery(session));
  const [choosing, setChoosing] = useState(false);
  const root = about.data?.root ?? null;
  return (
    <div className="flex h-full flex-col">
      <PageHead title="Workspace" about={root === null ? "This session has no folder." : <FolderPath path={root} />}>
        <Button onClick={() => { setChoosing(true); }}>Other session</Button>
        <Link to="/chat/{-$session}" params={{ session }} className="inline-flex h-8.5 items-center rounded-lg px-3 font-medium text-muted hover:bg-hover hover:text-ink">
          Conversation
        </Link>
      </PageHead>
      <Loaded query={about} loading={<div className="px-6"><Loading /></div>}>
        {() => (root === null ? <Empty icon={FolderTree} title="No folder">Start a task in a folder; then its files are here.</Empty> : <Views session={session} root={root} />)}
      </Loaded>
      <Dialog open={choosing} onClose={() => { setChoosing(false); }} title="Choose a session">
        <div className="-mx-2 h-[55vh]">
          <SessionList current={session} to="/workspace/{-$session}" onChoose={() => { setChoosing(false); }} />
        </div>
      </Dialog>
    </div>
  );
}

/** Read what the stage holds again when an event of the session says that it moved. */
function useStageMoves(session: string, root: string): void {
  const client = useQueryClient();
  const moves = stageMoves(useLive(session).view.turns);
  useEffect(() => {
    if (moves === 0) return;
    void client.invalidateQueries({ predicate: ({ queryKey: [what, of] }) => STAGED.has(String(what)) && of === session });
    void client.invalidateQueries({ queryKey: ["log", root] });
  }, [client, session, root, moves]);
}

function Views({ session, root }: { session: string; root: string }) {
  useStageMoves(session, root);
  return (
    <Tabs.Root defaultValue="changes" className="flex min-h-0 flex-1 flex-col">
      <Tabs.List aria-label="View of the workspace" className="flex gap-1 overflow-x-auto border-b border-line px-4 md:px-6">
        {TABS.map((name) => (
          <Tabs.Trigger key={name} value={name} className="-mb-px border-b-2 border-transparent px-3 py-2 font-medium text-muted capitalize -outline-offset-2 hover:text-ink data-[state=active]:border-accent-ink data-[state=active]:text-ink">
            {name}
          </Tabs.Trigger>
        ))}
      </Tabs.List>
      <Panel name="changes"><Changes session={session} /></Panel>
      <Panel name="files"><Files session={session} /></Panel>
      <Panel name="graph"><Graph session={session} /></Panel>
      <Panel name="history"><History session={session} root={root} /></Panel>
    </Tabs.Root>
  );
}

function Panel({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <Tabs.Content value={name} className="min-h-0 flex-1 overflow-y-auto px-4 py-4 -outline-offset-2 md:px-6">
      {children}
    </Tabs.Content>
  );
}

function Changes({ session }: { session: string }) {
  const diff = useQuery({ ...diffQuery(session), refetchInterval: 5000 });
  const asked = useQuery(sessionApprovalsQuery(session)).data?.approvals.find(({ kind }) => kind === "commit");
  const draft = useAnswerDraft(asked?.data);
  const exclusion = asked && { excluded: draft.excluded, toggle: draft.toggle };
  return (
    <Loaded query={diff} empty={(found) => found.count === 0 && <Empty icon={FolderTree} title="No changes are proposed">What a task would change appears here before it happens.</Empty>}>
      {(found) => (
        <div className="flex h-full min-h-80 max-w-4xl flex-col gap-3">
          <div className="flex flex-wrap items-center gap-2">
            <DiffSummary diff={found} />
            <span className="flex-1" />
            {asked ? <Approve session={session} approval={asked.approval_id} digest={asked.digest} draft={draft} /> : <span className="text-sm text-muted">The task is still at work; it asks when it is ready.</span>}
          </div>
          {draft.problem && <p role="alert" className="text-sm text-danger">{draft.problem}</p>}
          <VirtualList items={found.entries ?? []} keyOf={({ change, path }) => `${change} ${path}`} height={33} label="Proposed changes" className="min-h-0 overflow-y-auto rounded-xl border border-line bg-surface px-3 py-1">
            {(entry, at) => <Entry session={session} entry={entry} first={at === 0} version={found.version} exclusion={exclusion} />}
          </VirtualList>
        </div>
      )}
    </Loaded>
  );
}

interface EntryProps {
  session: string;
  entry: DiffEntry;
  first: boolean;
  version: number;
  exclusion: React.ComponentProps<typeof DiffRow>["exclusion"];
}

/** A changed file; opening it compares its contents. A moved file has the same bytes, so there is nothing to compare. */
function Entry({ session, entry, first, version, exclusion }: EntryProps) {
  const [shown, setShown] = useState(false);
  const comparable = entry.kind !== "directory" && entry.change !== "moved";
  return (
    <div className={first ? "" : "border-t border-line"}>
      <div className="flex items-center gap-1">
        <div className="min-w-0 flex-1"><DiffRow entry={entry} exclusion={exclusion} /></div>
        {comparable && (
          <Button look="quiet" size="small" aria-expanded={shown} aria-label={`Compare ${entry.path}`} onClick={() => { setShown(!shown); }}>
            Compare
          </Button>
        )}
      </div>
      {shown && (
        <div className="pb-3">
          <Suspense fallback={<Loading rows={2} />}>
            <FileDiff session={session} entry={entry} version={version} />
          </Suspense>
        </div>
      )}
    </div>
  );
}

/** Approves the changes, and leads to the conversation, which tells what became of them. */
function Approve({ session, approval, digest, draft: { excluded, leavesOut, reason, close } }: { session: string; approval: string; digest: string; draft: ReturnType<typeof useAnswerDraft> }) {
  const navigate = useNavigate();
  const answer = useAnswer(approval, digest, close);
  const approve = async () => {
    await answer.mutateAsync(excluded.size > 0 ? { verdict: "override", exclude: [...excluded], reason } : { verdict: "approve" });
    await navigate({ to: "/chat/{-$session}", params: { session } });
  };
  return (
    <Button look="primary" busy={answer.isPending} onClick={() => { approve().catch(() => undefined); }}>
      {excluded.size > 0 ? `Approve without ${count(leavesOut ?? excluded.size, "change")}` : "Approve"}
    </Button>
  );
}

function useTree(session: string) {
  const query = useQuery(graphQuery(session));
  const tree = useMemo(() => (query.data ? treeOf(query.data) : null), [query.data]);
  return { query, tree };
}

function Files({ session }: { session: string }) {
  const { query, tree } = useTree(session);
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  const [words, setWords] = useState("");
  const rows = useMemo(() => (tree ? rowsOf(tree, opened, words) : []), [tree, opened, words]);
  const toggle = (id: number) => {
    setOpened((now) => toggled(now, id));
  };
  return (
    <Loaded query={query} empty={() => tree?.children.length === 0 && <Empty icon={Folder} title="The folder is empty" />}>
      {() => (
        <div className="flex h-full min-h-80 flex-col gap-3">
          <div className="flex flex-wrap items-center gap-3">
            <TextField quiet label="Find files" type="search" placeholder="Find files" value={words} onChange={(event) => { setWords(event.target.value); }} className="min-w-0 flex-1 basis-52" />
            {tree && <span className="text-sm text-muted">{count(tree.files, "file")}, {bytes(tree.total)}</span>}
          </div>
          {rows.length === 0 ? <Empty title="No file matches" /> : (
            <VirtualList items={rows} keyOf={({ node }) => node.id.toString()} height={32} label="Files" className="min-h-0 flex-1 overflow-y-auto rounded-xl border border-line bg-surface p-1.5">
              {(row) => <FileRow row={row} opened={opened.has(row.node.id)} whole={words.trim() !== ""} onToggle={toggle} />}
            </VirtualList>
          )}
        </div>
      )}
    </Loaded>
  );
}

const ICONS: Record<string, typeof File> = { directory: Folder, symlink: FileSymlink, repository: FolderGit2 };

function FileRow({ row: { node, depth }, opened, whole, onToggle }: { row: Row; opened: boolean; whole: boolean; onToggle: (id: number) => void }) {
  const Icon = ICONS[node.kind] ?? File;
  const folder = node.kind === "directory";
  const body = (
    <>
      <ChevronRight aria-hidden className={cx("size-3.5 shrink-0 text-muted transition-transform", opened && "rotate-90", !folder && "invisible")} />
      <Icon aria-hidden className={cx("size-4 shrink-0", folder ? "text-accent-ink" : "text-muted")} />
      <span className="min-w-0 flex-1 truncate text-left">{whole ? node.path : node.name}</span>
      <span className="shrink-0 text-xs text-muted tabular-nums">{folder ? `${count(node.files, "file")}, ${bytes(node.total)}` : bytes(node.size)}</span>
    </>
  );
  const look = "flex h-8 w-full items-center gap-1.5 rounded-md pr-2 -outline-offset-2";
  const style = { paddingLeft: `${(depth * 18 + 4).toString()}px` };
  if (!folder || whole) return <div className={look} style={style}>{body}</div>;
  return (
    <button type="button" aria-expanded={opened} onClick={() => { onToggle(node.id); }} className={cx(look, "hover:bg-hover")} style={style}>
      {body}
    </button>
  );
}

function Graph({ session }: { session: string }) {
  const { query, tree } = useTree(session);
  const diff = useQuery(diffQuery(session)).data;
  return (
    <Loaded query={query}>
      {() => tree && (
        <div className="flex flex-col gap-2">
          <Legend root={tree} />
          <Suspense fallback={<Loading label="Loading the graph" />}><GraphView root={tree} diff={diff} /></Suspense>
        </div>
      )}
    </Loaded>
  );
}

function Legend({ root }: { root: TreeNode }) {
  return (
    <p className="flex flex-wrap items-center gap-x-4 gap-y-1 text-sm text-muted">
      <span>{count(root.files, "file")}, {bytes(root.total)}</span>
      <span className="flex items-center gap-1.5"><i className="size-3 rounded-sm border border-line-strong bg-sunken" /> folder</span>
      <span className="flex items-center gap-1.5"><i className="size-2.5 rounded-full bg-ok" /> new or moved here</span>
      <span className="flex items-center gap-1.5"><i className="size-2.5 rounded-full bg-info" /> changed</span>
    </p>
  );
}

function History({ session, root }: { session: string; root: string }) {
  const log = useQuery(logQuery(root));
  const proposed = useQuery(diffQuery(session)).data?.count ?? 0;
  const snapshots = useQuery({ ...snapshotsQuery(session), enabled: proposed > 0 });
  const [turning, setTurning] = useState<Schemas["CommitShown"] | null>(null);
  const navigate = useNavigate();
  return (
    <div className="flex max-w-4xl flex-col gap-6">
      {proposed > 0 && (snapshots.data?.snapshots ?? []).length > 0 && <Snapshots session={session} found={snapshots.data?.snapshots ?? []} />}
      <section>
        <h2 className="pb-2 font-semibold">Commits of this folder</h2>
        <Loaded query={log} empty={({ commits }) => commits.length === 0 && <Empty icon={RotateCcw} title="Nothing was changed here yet">Each commit appears here, with a way to undo and redo it.</Empty>}>
          {({ commits, bytes: held }) => (
            <>
              <p className="pb-2 text-sm text-muted">{bytes(held)} of earlier versions are kept for undo.</p>
              <Card className="px-4">
                {commits.map((commit) => <CommitRow key={commit.commit_id} commit={commit} onTurn={setTurning} />)}
              </Card>
            </>
          )}
        </Loaded>
      </section>
      {turning && (
        <UndoDialog
          session={turning.session_id ?? session}
          target={{ commit_id: turning.commit_id, redo: turning.redoable }}
          onClose={() => { setTurning(null); }}
          onDone={(of) => void navigate({ to: "/chat/{-$session}", params: { session: of } })}
        />
      )}
    </div>
  );
}

function CommitRow({ commit, onTurn }: { commit: Schemas["CommitShown"]; onTurn: (commit: Schemas["CommitShown"]) => void }) {
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 border-t border-line py-2.5 first:border-0">
      <div className="min-w-0 flex-1 basis-48">
        <p className="font-medium">{commit.operations === null ? "Changes" : count(commit.operations, "change")} <span className="font-normal text-muted"><Ago time={commit.at} /></span></p>
        {commit.undo_until && <p className="text-sm text-muted">can be undone until {new Date(commit.undo_until).toLocaleDateString("en", { day: "numeric", month: "long" })}</p>}
      </div>
      {commit.changes && <DiffSummary diff={{ version: 0, count: 0, ...commit.changes }} />}
      {commit.state === "rolled_back" && <Badge>undone</Badge>}
      {commit.undoable && <Button size="small" onClick={() => { onTurn(commit); }}><Undo2 aria-hidden className="size-3.5" /> Undo</Button>}
      {commit.redoable && <Button size="small" onClick={() => { onTurn(commit); }}><Redo2 aria-hidden className="size-3.5" /> Redo</Button>}
    </div>
  );
}

function Snapshots({ session, found }: { session: string; found: Schemas["Snapshot"][] }) {
  const [target, setTarget] = useState<string | null>(null);
  return (
    <section>
      {target !== null && <UndoDialog session={session} target={{ snapshot: target }} onClose={() => { setTarget(null); }} />}
      <h2 className="pb-2 font-semibold">Snapshots of the proposed changes</h2>
      <Card className="px-4">
        {found.map((snapshot, at) => (
          <div key={snapshot.snapshot_id} className="flex items-center gap-3 border-t border-line py-2 first:border-0">
            <p className="min-w-0 flex-1">Before change {at + 1} <span className="whitespace-nowrap text-muted"><Ago time={snapshot.at} /></span></p>
            <Button size="small" onClick={() => { setTarget(snapshot.snapshot_id); }}>Roll back to here</Button>
          </div>
        ))}
      </Card>
    </section>
  );
}
