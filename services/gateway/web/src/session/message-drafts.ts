// Unsent messages, by session. They survive a change of page and a reload of this tab, and end with the sign-in.
import { useSyncExternalStore } from "react";

const PREFIX = "suma-draft:";
const listeners = new Set<() => void>();

function tellAll(): void {
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const readDraft = (of: string): string => sessionStorage.getItem(PREFIX + of) ?? "";

export function writeDraft(of: string, text: string): void {
  if (text === "") sessionStorage.removeItem(PREFIX + of);
  else sessionStorage.setItem(PREFIX + of, text);
  tellAll();
}

/** Give a text back that was not sent, unless another one was begun meanwhile. */
export function restoreDraft(of: string, text: string): void {
  if (readDraft(of) === "") writeDraft(of, text);
}

/** The unsent message of a session, or of a new one. */
export function useMessageDraft(of: string): string {
  return useSyncExternalStore(subscribe, () => readDraft(of));
}

/** Forget all unsent messages, for another person may sign in. */
export function forgetMessageDrafts(): void {
  for (const key of Object.keys(sessionStorage).filter((each) => each.startsWith(PREFIX))) sessionStorage.removeItem(key);
  tellAll();
}
