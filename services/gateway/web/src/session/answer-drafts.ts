// Drafts of answers: exclusions and a reason. They are kept outside the views, which come and go with tabs and scrolling.
import { useSyncExternalStore } from "react";
import type { ApprovalRequested, Diff } from "@/api/generated/events";
import { toggled } from "@/lib/toggled";
import { forgetMessageDrafts } from "./message-drafts";

interface AnswerDraft {
  /** The items that are left out. */
  excluded: ReadonlySet<string>;
  reason: string;
}

const EMPTY: AnswerDraft = { excluded: new Set(), reason: "" };
const drafts = new Map<string, AnswerDraft>();
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** A commit that is asked again has a new id but keeps its draft: a turn asks for one commit at a time. */
function keyOf({ kind, turn_id, approval_id }: ApprovalRequested): string {
  return kind === "commit" ? turn_id : approval_id;
}

/** The draft of the answer to a question, if one is asked, and how to change it. */
export function useAnswerDraft(question: ApprovalRequested | undefined) {
  const key = question ? keyOf(question) : "";
  const draft = useSyncExternalStore(subscribe, () => drafts.get(key) ?? EMPTY);
  const change = (part: Partial<AnswerDraft>) => {
    drafts.set(key, { ...(drafts.get(key) ?? EMPTY), ...part });
    for (const listener of listeners) listener();
  };
  return {
    ...draft,
    toggle: (item: string) => { change({ excluded: toggled(draft.excluded, item) }); },
    write: (reason: string) => { change({ reason }); },
  };
}

/** Forget all drafts, for another person may sign in. */
export function forgetAnswerDrafts(): void {
  drafts.clear();
  forgetMessageDrafts();
}

/** Return the excluded paths that a diff has. If the diff does not list all of its entries, keep those it may have. */
export function within(excluded: ReadonlySet<string>, { count, entries = [] }: Diff): ReadonlySet<string> {
  if (entries.length < count) return excluded;
  return new Set(entries.flatMap(({ path }) => (excluded.has(path) ? path : [])));
}

/** Return args without the excluded entries of their lists, as the server leaves these out. */
export function without(args: object, excluded: ReadonlySet<string>): object {
  const kept = (value: unknown) => (Array.isArray(value) ? value.filter((entry) => !excluded.has(nameOf(entry) ?? "")) : (value as unknown));
  return Object.fromEntries(Object.entries(args).map(([name, value]) => [name, kept(value)]));
}

/** The name of an entry of a list; null if it has none, and so cannot be left out. */
function nameOf(entry: unknown): string | null {
  if (typeof entry === "string") return entry;
  return typeof entry === "object" && entry !== null && "id" in entry ? String(entry.id) : null;
}
