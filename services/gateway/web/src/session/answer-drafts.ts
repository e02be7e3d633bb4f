// Drafts of answers: exclusions and a reason. The server keeps them with their question, so that a reload, another tab
// and another device show the same.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { api, data } from "@/api/client";
import type { ApprovalRequested } from "@/api/generated/events";
import { asKept, draftQuery, type KeptDraft } from "@/api/queries";
import { tellProblem } from "@/components/toast";
import { toggled } from "@/lib/toggled";
import { forgetMessageDrafts } from "./message-drafts";

const EMPTY: KeptDraft = { exclude: [], reason: "", makes: null, leavesOut: null, problem: "" };
/** Milliseconds after the last change of a draft until it is sent. */
const SETTLED = 300;

/** A draft that is still to be sent: what the server says meanwhile is older. */
interface Unsent {
  draft: KeptDraft;
  timer: ReturnType<typeof setTimeout>;
}

const unsent = new Map<string, Unsent>();
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function keep(id: string, next: Unsent | null): void {
  clearTimeout(unsent.get(id)?.timer);
  if (next === null) unsent.delete(id);
  else unsent.set(id, next);
  for (const listener of listeners) listener();
}

/** The draft of the answer to a question, if one is asked, and how to change it. */
export function useAnswerDraft(question: ApprovalRequested | undefined) {
  const client = useQueryClient();
  const id = question?.approval_id ?? "";
  const query = draftQuery(id);
  const local = useSyncExternalStore(subscribe, () => unsent.get(id)?.draft);
  const kept = useQuery({ ...query, enabled: question !== undefined }).data;
  const draft = local ?? kept ?? EMPTY;
  const send = async (sent: Unsent) => {
    const { exclude, reason } = sent.draft;
    const body = { digest: question?.digest ?? "", exclude: [...exclude], reason };
    try {
      client.setQueryData(query.queryKey, asKept(await data(api.PUT("/v1/approvals/{approval_id}/draft", { params: { path: { approval_id: id } }, body }))));
    } catch (error) {
      tellProblem(error);
    }
    if (unsent.get(id) === sent) keep(id, null);
  };
  const change = (part: Partial<KeptDraft>) => {
    const next: Unsent = { draft: { ...draft, ...part, makes: null, leavesOut: null, problem: "" }, timer: setTimeout(() => void send(next), SETTLED) };
    void client.cancelQueries({ queryKey: query.queryKey });
    keep(id, next);
  };
  return {
    ...draft,
    excluded: new Set(draft.exclude),
    toggle: (item: string) => { change({ exclude: [...toggled(new Set(draft.exclude), item)] }); },
    write: (reason: string) => { change({ reason }); },
    /** Send no more of it: the question is being answered. */
    close: () => { clearTimeout(unsent.get(id)?.timer); },
  };
}

/** Forget all drafts, for another person may sign in. */
export function forgetAnswerDrafts(): void {
  for (const id of unsent.keys()) keep(id, null);
  forgetMessageDrafts();
}

/** Whether a path is left out, by itself or with a folder around it. */
export function isLeftOut(excluded: ReadonlySet<string>, path: string): "itself" | "with its folder" | null {
  if (excluded.has(path)) return "itself";
  const parts = path.split("/");
  return parts.some((_, n) => n > 0 && excluded.has(parts.slice(0, n).join("/"))) ? "with its folder" : null;
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
