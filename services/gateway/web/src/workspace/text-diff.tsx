// A file before and after: lines of text, or two images.
import { useQuery } from "@tanstack/react-query";
import { diffLines } from "diff";
import { useEffect, useMemo, useState } from "react";
import type { Schemas } from "@/api/client";
import type { DiffEntry } from "@/api/generated/events";
import { contentQuery } from "@/api/queries";
import { asProblem } from "@/api/problem";
import { Loading } from "@/components/states";
import { cx } from "@/lib/cx";
import { bytes } from "@/lib/format";

type Content = Schemas["FileContent"];

const IMAGES: Record<string, string> = { png: "image/png", jpg: "image/jpeg", jpeg: "image/jpeg", gif: "image/gif", webp: "image/webp", bmp: "image/bmp" };
/** Unchanged lines around a change; longer runs are folded. */
const CONTEXT = 3;
const LINES_MOST = 2000;

interface Side {
  content: Content | undefined;
  failed: string | null;
  loading: boolean;
}

function useSide(session: string, entry: DiffEntry, side: "before" | "after", version: number): Side {
  const absent = entry.change === (side === "before" ? "created" : "deleted");
  const query = useQuery({ ...contentQuery(session, entry.path, side, version), enabled: !absent, retry: false });
  return { content: query.data, failed: query.isError ? asProblem(query.error).message : null, loading: !absent && query.isPending };
}

export default function FileDiff({ session, entry, version }: { session: string; entry: DiffEntry; version: number }) {
  const before = useSide(session, entry, "before", version);
  const after = useSide(session, entry, "after", version);
  const failed = before.failed ?? after.failed;
  if (failed) return <p className="px-2 py-3 text-sm text-danger">{failed}</p>;
  if (before.loading || after.loading) return <Loading label="Loading the file" rows={3} />;
  const media = IMAGES[/\.(\w+)$/.exec(entry.path)?.[1]?.toLowerCase() ?? ""];
  if (media && (before.content?.base64 ?? after.content?.base64)) {
    return <Images before={before.content} after={after.content} media={media} name={entry.path} />;
  }
  if (before.content?.base64 || after.content?.base64) {
    return <p className="px-2 py-3 text-sm text-muted">Not text: {bytes(after.content?.size ?? before.content?.size ?? 0)}.</p>;
  }
  return <Lines before={before.content?.text ?? ""} after={after.content?.text ?? ""} cut={Boolean(before.content?.truncated) || Boolean(after.content?.truncated)} />;
}

interface Line {
  kind: "same" | "added" | "removed" | "fold";
  text: string;
  before: number | null;
  after: number | null;
}

/** The lines of both texts in order, with long unchanged runs folded. */
export function linesOf(before: string, after: string): Line[] {
  const lines: Line[] = [];
  let [left, right] = [0, 0];
  for (const part of diffLines(before, after)) {
    const texts = part.value.replace(/\n$/, "").split("\n");
    for (const text of texts) {
      if (part.added) lines.push({ kind: "added", text, before: null, after: ++right });
      else if (part.removed) lines.push({ kind: "removed", text, before: ++left, after: null });
      else lines.push({ kind: "same", text, before: ++left, after: ++right });
    }
  }
  return folded(lines);
}

function folded(lines: Line[]): Line[] {
  const near = new Set<number>();
  lines.forEach((line, at) => {
    if (line.kind !== "same") for (let each = at - CONTEXT; each <= at + CONTEXT; each++) near.add(each);
  });
  const shown: Line[] = [];
  let hidden = 0;
  lines.forEach((line, at) => {
    if (near.has(at)) {
      if (hidden > 0) shown.push({ kind: "fold", text: `${hidden.toString()} unchanged lines`, before: null, after: null });
      hidden = 0;
      shown.push(line);
    } else hidden++;
  });
  if (hidden > 0) shown.push({ kind: "fold", text: `${hidden.toString()} unchanged lines`, before: null, after: null });
  return shown;
}

const LOOKS = { same: "", added: "bg-ok-tint", removed: "bg-danger-tint", fold: "text-muted" };
const MARKS = { same: " ", added: "+", removed: "−", fold: "" };

function Lines({ before, after, cut }: { before: string; after: string; cut: boolean }) {
  const lines = useMemo(() => linesOf(before, after), [before, after]);
  return (
    <div className="overflow-auto rounded-lg border border-line bg-surface" tabIndex={0} role="region" aria-label="Changed lines">
      <table className="w-full font-mono text-xs">
        <tbody>
          {lines.slice(0, LINES_MOST).map((line, at) => (
            <tr key={at} className={LOOKS[line.kind]}>
              <td className="w-9 px-1.5 text-right text-muted tabular-nums select-none">{line.before}</td>
              <td className="w-9 px-1.5 text-right text-muted tabular-nums select-none">{line.after}</td>
              <td className="w-4 text-center select-none">{MARKS[line.kind]}<span className="sr-only">{line.kind === "added" ? "added" : line.kind === "removed" ? "removed" : ""}</span></td>
              <td className="py-px pr-3 whitespace-pre">{line.text}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {(cut || lines.length > LINES_MOST) && <p className="p-2 text-sm text-muted">The file is longer; only its beginning is compared.</p>}
    </div>
  );
}

function Images({ before, after, media, name }: { before: Content | undefined; after: Content | undefined; media: string; name: string }) {
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      <Picture title="Before" content={before} media={media} name={name} />
      <Picture title="After" content={after} media={media} name={name} />
    </div>
  );
}

function Picture({ title, content, media, name }: { title: string; content: Content | undefined; media: string; name: string }) {
  const url = usePicture(content?.base64 ?? null, media);
  return (
    <figure className={cx("flex flex-col gap-1 rounded-lg border border-line p-2", !url && "opacity-60")}>
      <figcaption className="text-xs text-muted">{title}{content && `, ${bytes(content.size)}`}</figcaption>
      {url ? <img src={url} alt={`${name}, ${title.toLowerCase()}`} className="max-h-72 object-contain" /> : <p className="text-sm text-muted">{content?.truncated ? "Too large to show." : "Not there."}</p>}
    </figure>
  );
}

/** A picture's address in this page's memory, given back when it is no longer shown. */
function usePicture(base64: string | null, media: string): string | null {
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    if (base64 === null) return;
    const made = URL.createObjectURL(new Blob([Uint8Array.from(atob(base64), (each) => each.charCodeAt(0))], { type: media }));
    // The address belongs to an outside system that must be given back.
    // eslint-disable-next-line react-hooks/set-state-in-effect
    setUrl(made);
    return () => {
      URL.revokeObjectURL(made);
      setUrl(null);
    };
  }, [base64, media]);
  return url;
}
