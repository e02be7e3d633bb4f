// The files that a change touches, as a list of paths; each may be left out where the change waits for approval.
import { Link } from "@tanstack/react-router";
import { ArrowRight, FilePlus2, FileX2, PencilLine } from "lucide-react";
import type { Diff, DiffEntry } from "@/api/generated/events";
import { bytes, count } from "@/lib/format";
import { Badge, type Tone } from "./ui";

export interface Exclusion {
  excluded: ReadonlySet<string>;
  toggle: (path: string) => void;
}

const MARKS = {
  created: { icon: FilePlus2, className: "text-ok", text: "new" },
  changed: { icon: PencilLine, className: "text-info", text: "changed" },
  moved: { icon: ArrowRight, className: "text-info", text: "moved" },
  deleted: { icon: FileX2, className: "text-danger", text: "deleted" },
} as const;

const mark = (change: string) => MARKS[change as keyof typeof MARKS] as (typeof MARKS)[keyof typeof MARKS] | undefined;

/** The numbers of a change: `40 moved`, `4 deleted`, `12 MB kept in history for 30 days`. */
export function DiffSummary({ diff }: { diff: Diff }) {
  const parts: [string, number | undefined, Tone][] = [
    ["created", diff.created, "ok"],
    ["changed", diff.changed, "info"],
    ["moved", diff.moved, "info"],
    ["deleted", diff.deleted, "danger"],
  ];
  const until = diff.kept_days == null ? "" : ` for ${diff.kept_days.toLocaleString("en")} days`;
  return (
    <span className="flex flex-wrap gap-1">
      {parts.map(([text, number, tone]) => (number ? <Badge key={text} tone={tone}>{number.toLocaleString("en")} {text}</Badge> : null))}
      {diff.bytes_freed ? <Badge>{`${bytes(diff.bytes_freed)} kept in history${until}`}</Badge> : null}
    </span>
  );
}

/** One file of a change. */
export function DiffRow({ entry, exclusion }: { entry: DiffEntry; exclusion?: Exclusion | undefined }) {
  const shown = mark(entry.change);
  const Icon = shown?.icon ?? PencilLine;
  const out = exclusion?.excluded.has(entry.path) ?? false;
  const body = (
    <>
      <Icon aria-hidden className={`mt-0.5 size-4 shrink-0 ${shown?.className ?? "text-muted"}`} />
      <span className={`min-w-0 flex-1 break-words ${out ? "text-muted line-through" : ""}`}>
        <span className="sr-only">{shown?.text ?? entry.change}: </span>
        {entry.source && <span className="text-muted">{entry.source} → </span>}
        {entry.path}
        {entry.kind === "directory" && "/"}
        {entry.files ? <span className="text-muted"> ({count(entry.files, "file")})</span> : null}
      </span>
      {entry.size ? <span className="shrink-0 text-xs text-muted tabular-nums">{bytes(entry.size)}</span> : null}
    </>
  );
  if (!exclusion) return <div className="flex gap-2 py-1 text-sm">{body}</div>;
  return (
    <label className="flex cursor-pointer gap-2 rounded-md py-1 text-sm hover:bg-hover">
      <input
        type="checkbox"
        checked={!out}
        onChange={() => { exclusion.toggle(entry.path); }}
        aria-label={`Include ${entry.path}`}
        className="mt-0.5 size-4 accent-(--accent)"
      />
      {body}
    </label>
  );
}

const FEW = 8;

interface DiffListProps {
  diff: Diff;
  exclusion?: Exclusion | undefined;
  all?: boolean;
  /** The session whose workspace still has these changes, and so all of them. */
  session?: string | undefined;
}

/** A change's files; a long list shows its beginning first. Events hold at most 200 entries. */
export function DiffList({ diff, exclusion, all = false, session }: DiffListProps) {
  const entries = diff.entries ?? [];
  const first = all ? entries : entries.slice(0, FEW);
  const rest = entries.slice(first.length);
  const missing = diff.count - entries.length;
  return (
    <div>
      {first.map((entry) => <DiffRow key={entry.path} entry={entry} exclusion={exclusion} />)}
      {rest.length > 0 && (
        <details>
          <summary className="w-fit rounded py-1 text-sm font-medium text-accent-ink">Show {count(rest.length, "more change")}</summary>
          {rest.map((entry) => <DiffRow key={entry.path} entry={entry} exclusion={exclusion} />)}
        </details>
      )}
      {missing > 0 && (
        <p className="py-1 text-sm text-muted">
          And {count(missing, "further change")}.{" "}
          {session && <Link to="/workspace/{-$session}" params={{ session }} className="font-medium text-accent-ink hover:underline">See and exclude all in the workspace</Link>}
        </p>
      )}
    </div>
  );
}
