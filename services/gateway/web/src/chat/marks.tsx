// What a session has read: the first content of each kind. After some kinds, a person sees whatever leaves the machine.
import { Eye } from "lucide-react";
import type { Mark } from "@/api/generated/events";
import { Badge } from "@/components/ui";
import type { TurnView } from "@/session/types";

const KINDS: Record<Mark["kind"], string> = { private: "names or contents of your files", untrusted: "text that others may have written", secret: "possibly keys or passwords" };

const marksOf = (turns: readonly TurnView[]) =>
  turns.flatMap(({ text, rounds }) => rounds.flatMap((round) => [...round.marks, ...round.steps.flatMap(({ latest }) => latest?.marks ?? [])].map((mark) => ({ ...mark, text }))));

const Source = ({ source }: { source: string | undefined }) => (source ? <code className="font-mono text-xs [overflow-wrap:anywhere]">{source}</code> : "the folder");

/** The kinds of content that the session has read, each with its first cause. */
export function Marks({ turns }: { turns: readonly TurnView[] }) {
  const marks = marksOf(turns);
  if (marks.length === 0) return null;
  return (
    <details className="border-b border-line px-4 py-1.5 text-sm text-muted md:px-6">
      <summary className="w-fit rounded">
        <span className="ml-1 inline-flex flex-wrap items-center gap-1.5 align-middle">
          <Eye aria-hidden className="size-3.5" /> Has read {marks.map(({ kind }) => <Badge key={kind} tone={kind === "private" ? "neutral" : "warn"}>{kind}</Badge>)}
        </span>
      </summary>
      <ul aria-label="What this session has read" className="flex flex-col gap-1 py-1.5">
        {marks.map(({ kind, source, text }) => (
          <li key={kind} className="line-clamp-3 [overflow-wrap:anywhere]"><span className="text-ink capitalize">{kind}</span>: {KINDS[kind]}, first from <Source source={source} /> in “{text}”</li>
        ))}
      </ul>
    </details>
  );
}

/** Why a person must see what leaves the machine. */
export function Because({ marks }: { marks: readonly Mark[] }) {
  const sources = [...new Set(marks.map(({ source }) => source))];
  if (sources.length === 0) return null;
  return <p className="text-sm">Asked because this session has read {sources.map((source, at) => <span key={source}>{at > 0 && " and "}<Source source={source} /></span>)}.</p>;
}
