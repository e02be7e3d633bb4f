// What a page shows instead of its data: loading, empty, failing, offline, not allowed, not there.
import type { UseQueryResult } from "@tanstack/react-query";
import { CloudOff, FileQuestion, Inbox, type LucideIcon, ShieldX, TriangleAlert } from "lucide-react";
import { type ReactNode, useState } from "react";
import { asProblem, type Problem } from "@/api/problem";
import { Button, Skeleton } from "./ui";

interface NoticeProps {
  icon: LucideIcon;
  title: string;
  children?: ReactNode;
  action?: ReactNode;
  role?: "alert" | "status";
  /** It stands for a whole page, so its title is the page's. */
  whole?: boolean;
}

/** A centred message in place of data. */
export function Notice({ icon: Icon, title, children, action, role, whole = false }: NoticeProps) {
  const Title = whole ? "h1" : "p";
  return (
    <div role={role} className="mx-auto flex max-w-md flex-col items-center gap-2 px-4 py-10 text-center">
      <span className="mb-1 flex size-10 items-center justify-center rounded-xl bg-hover text-muted">
        <Icon aria-hidden className="size-5" />
      </span>
      <Title className="font-semibold">{title}</Title>
      {children && <div className="text-sm text-muted">{children}</div>}
      {action && <div className="mt-3 flex flex-wrap justify-center gap-2">{action}</div>}
    </div>
  );
}

/** Nothing is here yet; say what would be, and offer the first step. */
export function Empty({ icon = Inbox, title, children, action }: Partial<NoticeProps> & { title: string }) {
  return (
    <Notice icon={icon} title={title} action={action}>
      {children}
    </Notice>
  );
}

export function Loading({ label = "Loading", rows = 5 }: { label?: string; rows?: number }) {
  return (
    <div role="status" className="flex flex-col gap-3 py-2">
      <span className="sr-only">{label}…</span>
      {Array.from({ length: rows }, (_, row) => (
        <Skeleton key={row} className={row % 3 === 2 ? "h-9 w-2/3" : "h-9"} />
      ))}
    </div>
  );
}

function kindOf(problem: Problem): { icon: LucideIcon; title: string } {
  if (problem.offline) return { icon: CloudOff, title: "No connection to Suma" };
  if (problem.status === 403) return { icon: ShieldX, title: "You may not see this" };
  if (problem.status === 404) return { icon: FileQuestion, title: "Not found" };
  return { icon: TriangleAlert, title: "This did not work" };
}

/** An error, in the API's own words, and a way to try again. */
export function Failed({ error, retry, whole = false }: { error: unknown; retry?: () => void; whole?: boolean }) {
  const problem = asProblem(error);
  const { icon, title } = kindOf(problem);
  return (
    <Notice
      icon={icon}
      title={title}
      role="alert"
      whole={whole}
      action={
        retry &&
        problem.status !== 403 && (
          <Button onClick={retry}>Try again</Button>
        )
      }
    >
      {problem.status === 403 && <p className="mb-1">Ask an administrator for the right, or sign in with another key.</p>}
      <p>{problem.message}</p>
    </Notice>
  );
}

/** A query's error, also while the query is tried again: a poll must not blink, or take the focus from "Try again". */
export function useShownError({ data, error, isSuccess }: Pick<UseQueryResult, "data" | "error" | "isSuccess">): Error | null {
  const [last, setLast] = useState<Error | null>(null);
  if (error !== null && error !== last) setLast(error);
  if (isSuccess && error === null && last !== null) setLast(null);
  return error ?? (data === undefined ? last : null);
}

interface LoadedProps<T> {
  query: Pick<UseQueryResult<T>, "data" | "error" | "isError" | "isSuccess"> & { refetch: () => unknown };
  /** Return what to show if there is nothing; false if there is something. */
  empty?: (data: T) => ReactNode;
  loading?: ReactNode;
  children: (data: T) => ReactNode;
}

/** Show a query's data, or the state that it is in. Old data stays while new data cannot be had. */
export function Loaded<T>({ query, empty, loading, children }: LoadedProps<T>) {
  const error = useShownError(query);
  if (query.data === undefined) {
    if (error) return <Failed error={error} retry={() => void query.refetch()} />;
    return loading ?? <Loading />;
  }
  return (
    <>
      {query.isError && <Stale error={query.error} />}
      {empty?.(query.data) || children(query.data)}
    </>
  );
}

function Stale({ error }: { error: unknown }) {
  return (
    <p role="status" className="mb-3 rounded-lg bg-warn-tint px-3 py-2 text-sm text-warn">
      This may be out of date: {asProblem(error).message}
    </p>
  );
}
