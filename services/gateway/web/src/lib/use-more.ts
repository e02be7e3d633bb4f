import { useCallback } from "react";

interface Paged {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  fetchNextPage: () => Promise<unknown>;
}

/** Return a function that reads the next page of a list, once however often it is called. */
export function useMore({ hasNextPage, isFetchingNextPage, fetchNextPage }: Paged): () => void {
  return useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
}
