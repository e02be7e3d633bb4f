// What pages read from the API, by name. Writes name the reads that they change.
import { infiniteQueryOptions, QueryClient, queryOptions } from "@tanstack/react-query";
import { api, data } from "./client";
import { asProblem } from "./problem";

const SESSIONS_PAGE = 100;
const POLL = 5000;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2000,
      // The page shows what is wrong at once; a lost connection is tried again in the background.
      retry: (failures, error) => asProblem(error).status >= 500 && failures < 2,
      networkMode: "always",
    },
    mutations: { networkMode: "always" },
  },
});

export const sessionsQuery = infiniteQueryOptions({
  queryKey: ["sessions"],
  queryFn: ({ pageParam }) =>
    data(api.GET("/v1/sessions", { params: { query: { limit: SESSIONS_PAGE, before: pageParam } } })),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page) => page.next ?? undefined,
  refetchInterval: (query) => ((query.state.data?.pages.length ?? 1) > 1 ? false : POLL),
});

export const sessionQuery = (id: string) =>
  queryOptions({
    queryKey: ["session", id],
    queryFn: () => data(api.GET("/v1/sessions/{session_id}", { params: { path: { session_id: id } } })),
  });

export const approvalsQuery = queryOptions({
  queryKey: ["approvals"],
  queryFn: () => data(api.GET("/v1/approvals", { params: { query: { limit: 500 } } })),
  refetchInterval: POLL,
});
