// What a change does, the riskiest first: by kind and folder with true counts, each file with what a person must know.
import { useInfiniteQuery } from "@tanstack/react-query";
import { ArrowRight, FilePlus2, FileX2, PencilLine, Replace } from "lucide-react";
import { useState } from "react";
import type { Diff, DiffEntry, DiffGroup } from "@/api/generated/events";
import { diffPagesQuery } from "@/api/queries";
import { bytes, count } from "@/lib/format";
import { isLeftOut } from "@/session/answer-drafts";
import { Badge, Button, type Tone } from "./ui";

export interface Exclusion {
  excluded: ReadonlySet<string>;
  toggle: (path: string) => void;
}

type Kind = "deleted" | "overwritten" | "changed" | "moved" | "created";

const KINDS: Record<Kind, { icon: typeof FileX2; className: string; tone: Tone; verb: string; done: string; place: string }> = {
  deleted: { icon: FileX2, className: "text-danger", tone: "danger", verb: "Delete", done: "deleted", place: "in" },
  overwritten: { icon: Replace, className: "text-danger", tone: "danger", verb: "Overwrite", done: "overwritten", place: "in" },
  changed: { icon: PencilLine, className: "text-info", tone: "info", verb: "Change", done: "changed", place: "in" },
  moved: { icon: ArrowRight, className: "text-info", tone: "info", verb: "Move", done: "moved", place: "to" },
  created: { icon: FilePlus2, className: "text-ok", tone: "ok", verb: "Create", done: "created", place: "in" },
};
const ORDER = Object.keys(KINDS) as Kind[];
const RISKY = new Set<Kind>(["deleted", "overwritten", "changed"]);
const FEW = 8;

const kindOf = (change: string) => KINDS[change as Kind] as (typeof KINDS)[Kind] | undefined;

/** The numbers of a change: `4 deleted`, `40 moved`, `12 MB kept in history for 30 days`. */
export function DiffSummary({ diff }: { diff: Diff }) {
  const until = diff.kept_days == null ? "" : ` for ${diff.kept_days.toLocaleString("en")} days`;
  return (
    <span className="flex flex-wrap gap-1">
      {ORDER.map((kind) => (diff[kind] ? <Badge key={kind} tone={KINDS[kind].tone}>{diff[kind].toLocaleString("en")} {KINDS[kind].done}</Badge> : null))}
      {diff.bytes_freed ? <Badge>{`${bytes(diff.bytes_freed)} kept in history${until}`}</Badge> : null}
    </span>
  );
}

/** One file of a change. A file whose folder is left out is left out with it. */
export function DiffRow({ entry, exclusion }: { entry: DiffEntry; exclusion?: Exclusion | undefined }) {
  const shown = kindOf(entry.change);
  const Icon = shown?.icon ?? PencilLine;
  const out = exclusion ? isLeftOut(exclusion.excluded, entry.path) : null;
  const body = (
    <>
      <Icon aria-hidden className={`mt-0.5 size-4 shrink-0 ${shown?.className ?? "text-muted"}`} />
      <span className={`min-w-0 flex-1 [overflow-wrap:anywhere] ${out ? "text-muted line-through" : ""}`}>
        <span className="sr-only">{shown?.done ?? entry.change}: </span>
        {entry.source && <span className="text-muted">{entry.source} → </span>}
        {entry.path}
        {entry.kind === "directory" && "/"}
        {entry.files ? <span className="text-muted"> ({count(entry.files, "file")})</span> : null}
        {entry.same_as && <span className="block text-xs text-muted">identical to {entry.same_as}, which stays</span>}
      </span>
      {entry.size ? <span className="shrink-0 text-xs text-muted tabular-nums">{bytes(entry.size)}</span> : null}
    </>
  );
  if (!exclusion) return <div className="flex gap-2 py-1 text-sm">{body}</div>;
  return (
    <label className="flex cursor-pointer gap-2 rounded-md py-1 text-sm hover:bg-hover">
      <input
        type="checkbox"
        checked={out === null}
        disabled={out === "with its folder"}
        onChange={() => { exclusion.toggle(entry.path); }}
        aria-label={`Include ${entry.path}`}
        className="mt-0.5 size-4 shrink-0 accent-(--accent)"
      />
      {body}
    </label>
  );
}

/** The beginning of what changes in a text. */
export function TextPreview({ entry }: { entry: DiffEntry }) {
  if (entry.preview == null) return null;
  const tone = (line: string) => (line.startsWith("+") ? "text-ok" : line.startsWith("-") ? "text-danger" : "text-muted");
  return (
    <details className="pb-1 pl-6">
      <summary className="w-fit rounded text-sm font-medium text-accent-ink">Show the text of {entry.path}</summary>
      <div className="mt-1 overflow-x-auto rounded-lg bg-sunken px-3 py-2 font-mono text-xs whitespace-pre" tabIndex={0} role="region" aria-label={`Text of ${entry.path}`}>
        {entry.preview.split("\n").map((line, at) => <span key={at} className={`block ${tone(line)}`}>{line || " "}</span>)}
        {entry.preview_cut && <span className="block text-muted">… (the workspace compares all of it)</span>}
      </div>
    </details>
  );
}

interface DiffListProps {
  diff: Diff;
  exclusion?: Exclusion | undefined;
  /** The session whose workspace still has these changes, and so all of them. */
  session?: string | undefined;
}

/** A change as sections by kind, the riskiest first; long ones by folder. Events hold at most 200 entries. */
export function DiffList({ diff, exclusion, session }: DiffListProps) {
  const groups = diff.groups ?? [];
  if (groups.length === 0) return <Entries entries={diff.entries ?? []} exclusion={exclusion} />;
  return (
    <div className="flex flex-col gap-1">
      {ORDER.map((kind) => (
        <Section key={kind} kind={kind} groups={groups.filter(({ change }) => change === kind)} diff={diff} exclusion={exclusion} session={session} />
      ))}
      {diff.more_groups ? <p className="text-sm text-muted">And changes in {count(diff.more_groups, "further folder")}; the workspace lists all.</p> : null}
    </div>
  );
}

function Section({ kind, groups, diff, exclusion, session }: DiffListProps & { kind: Kind; groups: readonly DiffGroup[] }) {
  const total = groups.reduce((sum, group) => sum + group.count, 0);
  const things = groups.reduce((sum, group) => sum + group.things, 0);
  if (total === 0) return null;
  const folded = groups.length > 1 && total > FEW;
  return (
    <details open={RISKY.has(kind) || total <= FEW} className="rounded-lg border border-line px-3 py-1.5">
      <summary className="rounded text-sm font-medium">
        {KINDS[kind].verb} {things.toLocaleString("en")}
        {folded && <span className="font-normal text-muted"> {KINDS[kind].place} {count(groups.length, "folder")}</span>}
      </summary>
      {groups.map((group) => (folded && !RISKY.has(kind) ? (
        <details key={group.folder} className="pl-2">
          <summary className="rounded py-0.5 text-sm [overflow-wrap:anywhere]">
            {group.folder === "" ? "this folder" : `${group.folder}/`} <span className="text-muted tabular-nums">{group.count.toLocaleString("en")}</span>
          </summary>
          <Group group={group} diff={diff} exclusion={exclusion} session={session} />
        </details>
      ) : <Group key={group.folder} group={group} diff={diff} exclusion={exclusion} session={session} />))}
    </details>
  );
}

const folderOf = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf("/")));

/** The changes of one kind in one folder: those that came with the question, then the others, page by page. */
function Group({ group, diff, exclusion, session }: DiffListProps & { group: DiffGroup }) {
  const [wanted, setWanted] = useState(false);
  const [all, setAll] = useState(false);
  const query = useInfiniteQuery({ ...diffPagesQuery(session ?? "", diff.version, group.change, group.folder ?? ""), enabled: wanted });
  const carried = (diff.entries ?? []).filter(({ change, path }) => change === group.change && folderOf(path) === (group.folder ?? ""));
  const entries = wanted && query.data ? query.data.pages.flatMap((page) => page.entries ?? []) : carried;
  const shown = all || wanted || entries.length <= FEW + 2 ? entries : entries.slice(0, FEW);
  const left = group.count - shown.length;
  const more = () => {
    if (shown.length < entries.length) setAll(true);
    else if (wanted) void query.fetchNextPage();
    else setWanted(true);
  };
  return (
    <>
      <Entries entries={shown} exclusion={exclusion} />
      {left > 0 && (session !== undefined || shown.length < entries.length) && (
        <Button look="quiet" size="small" busy={query.isFetching} onClick={more}>Show {count(left, "more change")}</Button>
      )}
    </>
  );
}

function Entries({ entries, exclusion }: { entries: readonly DiffEntry[]; exclusion?: Exclusion | undefined }) {
  return (
    <>
      {entries.map((entry) => (
        <div key={`${entry.change} ${entry.path}`}>
          <DiffRow entry={entry} exclusion={exclusion} />
          <TextPreview entry={entry} />
        </div>
      ))}
    </>
  );
}
