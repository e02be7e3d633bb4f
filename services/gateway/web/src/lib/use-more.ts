import { useCallback } from "react";

interface Paged {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  isFetchNextPageError: boolean;
  fetchNextPage: () => Promise<unknown>;
}

/** The next page of a list that shows its end. */
export interface More {
  /** Read it, once however often this is called. After a failure only `retry` reads it. */
  read: () => void;
  retry: () => void;
  failed: boolean;
  busy: boolean;
}

export function useMore({ hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage }: Paged): More {
  const retry = useCallback(() => void fetchNextPage(), [fetchNextPage]);
  const read = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage && !isFetchNextPageError) retry();
  }, [hasNextPage, isFetchingNextPage, isFetchNextPageError, retry]);
  return { read, retry, failed: isFetchNextPageError, busy: isFetchingNextPage };
}
