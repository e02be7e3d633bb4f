// Short messages about what was done or failed. Screen readers hear them.
import { X } from "lucide-react";
import { useSyncExternalStore } from "react";
import type { Report } from "@/api/outcomes";
import { asProblem } from "@/api/problem";
import { cx } from "@/lib/cx";
import { IconButton } from "./ui";

interface Toast {
  id: number;
  text: string;
  failed: boolean;
}

const SHOWN = { done: 4000, failed: 10_000 };
let toasts: readonly Toast[] = [];
let last = 0;
const listeners = new Set<() => void>();

function set(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

function dismiss(id: number): void {
  set(toasts.filter((toast) => toast.id !== id));
}

function show(text: string, failed: boolean): void {
  const id = ++last;
  set([...toasts.slice(-2), { id, text, failed }]);
  setTimeout(() => { dismiss(id); }, failed ? SHOWN.failed : SHOWN.done);
}

export function tell(text: string): void {
  show(text, false);
}

export function tellProblem(error: unknown): void {
  show(asProblem(error).message, true);
}

export function tellReport({ text, failed }: Report): void {
  show(text, failed);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => toasts);
  return (
    <div role="status" aria-live="polite" className="pointer-events-none fixed top-3 right-4 left-4 z-50 flex flex-col items-center gap-2">
      {shown.map((toast) => (
        <div
          key={toast.id}
          className={cx(
            "animate-appear pointer-events-auto flex max-w-md items-start gap-2 rounded-xl border border-line bg-raised py-2 pr-1.5 pl-3.5 shadow-float",
            toast.failed && "text-danger",
          )}
        >
          <p className="py-1 text-sm">{toast.text}</p>
          <IconButton label="Dismiss" onClick={() => { dismiss(toast.id); }}>
            <X aria-hidden className="size-4" />
          </IconButton>
        </div>
      ))}
    </div>
  );
}
