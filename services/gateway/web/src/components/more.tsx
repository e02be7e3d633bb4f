import { Button } from "./ui";

interface MoreProps {
  query: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => Promise<unknown> };
  /** What there is more of. */
  of: string;
}

/** A button that reads the next page of a list; nothing at the list's end. */
export function More({ query, of }: MoreProps) {
  if (!query.hasNextPage) return null;
  return (
    <div className="pt-3">
      <Button busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>Show more {of}</Button>
    </div>
  );
}
