// What pages read from the API, by name. Writes name the reads that they change.
import { infiniteQueryOptions, keepPreviousData, QueryClient, queryOptions, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { api, data, type Schemas } from "./client";
import { asProblem } from "./problem";

/** A first page that shows at once; long ones follow, so that ten thousand sessions take twenty. */
const SESSIONS_PAGE = 100;
const SESSIONS_LONG_PAGE = 500;
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

export const readMe = () => data(api.GET("/v1/me"));

/** The signed-in person. */
export const meQuery = queryOptions({ queryKey: ["me"], queryFn: readMe, staleTime: Infinity });

/** Whether the signed-in person has a scope. The server decides; this only hides what it would refuse. */
export function useMay(scope: string): boolean {
  const scopes = useQuery(meQuery).data?.scopes ?? [];
  return scopes.includes("*") || scopes.includes(scope);
}

export interface SessionFilter {
  /** Part of a title, folder, id or principal. */
  words?: string;
  open?: boolean;
}

/** The sessions, newest first, a page at a time. Only a short list is read again and again. */
export const sessionsQuery = ({ words, open }: SessionFilter = {}) =>
  infiniteQueryOptions({
    queryKey: ["sessions", { words, open }],
    queryFn: ({ pageParam }) =>
      data(
        api.GET("/v1/sessions", {
          params: { query: { limit: pageParam === undefined ? SESSIONS_PAGE : SESSIONS_LONG_PAGE, before: pageParam, words: words === "" ? undefined : words, open } },
        }),
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
    refetchInterval: (query) => ((query.state.data?.pages.length ?? 1) > 1 ? false : POLL),
    placeholderData: keepPreviousData,
  });

/** The newest sessions whose task waits for an answer in words. */
export function useQuestions(): Schemas["SessionShown"][] {
  const newest = useInfiniteQuery(sessionsQuery()).data?.pages[0]?.sessions ?? [];
  return newest.filter(({ turn_state }) => turn_state === "awaiting_clarification");
}

export const sessionQuery = (id: string) =>
  queryOptions({
    queryKey: ["session", id],
    queryFn: () => data(api.GET("/v1/sessions/{session_id}", { params: { path: { session_id: id } } })),
  });

const PERMISSION_POLL = 2000;

/** Whether a folder may be worked in. One that waits for its permission is asked about until it has it. */
export const folderQuery = (path: string) =>
  queryOptions({
    queryKey: ["folder", path],
    queryFn: () => data(api.GET("/v1/folders", { params: { query: { path } } })),
    refetchInterval: ({ state }) => (state.data?.state === "needs_permission" ? PERMISSION_POLL : false),
    placeholderData: keepPreviousData,
  });

const APPROVALS_PAGE = 100;

/** The open approvals, oldest first, a page at a time. */
export const approvalsQuery = infiniteQueryOptions({
  queryKey: ["approvals"],
  queryFn: ({ pageParam }) => data(api.GET("/v1/approvals", { params: { query: { limit: APPROVALS_PAGE, after: pageParam } } })),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page) => page.next ?? undefined,
  refetchInterval: POLL,
});

/** The open approvals of one session. */
export const sessionApprovalsQuery = (session: string) =>
  queryOptions({
    queryKey: ["approvals", session],
    queryFn: () => data(api.GET("/v1/approvals", { params: { query: { session } } })),
    refetchInterval: POLL,
  });

export const graphQuery = (session: string) =>
  queryOptions({
    queryKey: ["graph", session],
    queryFn: () => data(api.GET("/v1/sessions/{session_id}/graph", { params: { path: { session_id: session } } })),
    staleTime: 10_000,
  });

export const diffQuery = (session: string) =>
  queryOptions({
    queryKey: ["diff", session],
    queryFn: () => data(api.GET("/v1/sessions/{session_id}/diff", { params: { path: { session_id: session } } })),
  });

const DIFF_PAGE = 200;

/** The staged changes of one kind in one folder, a page at a time. */
export const diffPagesQuery = (session: string, version: number, change: string, folder: string) =>
  infiniteQueryOptions({
    queryKey: ["diff", session, version, change, folder],
    queryFn: ({ pageParam }) =>
      data(
        api.GET("/v1/sessions/{session_id}/diff", {
          params: { path: { session_id: session }, query: { after: pageParam, limit: DIFF_PAGE, change: change as "deleted", folder } },
        }),
      ),
    initialPageParam: 0,
    getNextPageParam: (page) => page.next ?? undefined,
    staleTime: Infinity,
  });

/** A prepared answer. `makes` and `leavesOut` are counted by the server, null until it has. */
export interface KeptDraft {
  exclude: readonly string[];
  reason: string;
  makes: number | null;
  leavesOut: number | null;
  problem: string;
}

export function asKept(draft: Schemas["Draft"] | null): KeptDraft {
  return { exclude: draft?.exclude ?? [], reason: draft?.reason ?? "", makes: draft?.makes ?? null, leavesOut: draft?.leaves_out ?? null, problem: draft?.problem ?? "" };
}

/** The prepared answer to an open question, read again so that another device's changes show. */
export const draftQuery = (approval: string) =>
  queryOptions({
    queryKey: ["draft", approval],
    queryFn: async (): Promise<KeptDraft> => {
      const { draft } = await data(api.GET("/v1/approvals/{approval_id}", { params: { path: { approval_id: approval } } }));
      return asKept(draft ?? null);
    },
    refetchInterval: POLL,
  });

export const snapshotsQuery = (session: string) =>
  queryOptions({
    queryKey: ["snapshots", session],
    queryFn: () => data(api.GET("/v1/sessions/{session_id}/snapshots", { params: { path: { session_id: session } } })),
  });

export const logQuery = (root: string) =>
  queryOptions({
    queryKey: ["log", root],
    queryFn: () => data(api.GET("/v1/workspace/log", { params: { query: { root, most: 200 } } })),
  });

export const contentQuery = (session: string, path: string, side: "before" | "after", version: number) =>
  queryOptions({
    queryKey: ["content", session, path, side, version],
    queryFn: () =>
      data(
        api.GET("/v1/sessions/{session_id}/content", {
          params: { path: { session_id: session }, query: { path, side } },
        }),
      ),
    staleTime: Infinity,
  });

export const toolsQuery = () =>
  queryOptions({ queryKey: ["tools"], queryFn: () => data(api.GET("/v1/tools")) });

export const agentsQuery = () =>
  queryOptions({ queryKey: ["agents"], queryFn: () => data(api.GET("/v1/agents")) });

export const skillsQuery = (root?: string, query?: string) =>
  queryOptions({
    queryKey: ["skills", { root, query }],
    queryFn: () => data(api.GET("/v1/skills", { params: { query: { root, query } } })),
    placeholderData: keepPreviousData,
  });

export const skillQuery = (name: string, root?: string) =>
  queryOptions({
    queryKey: ["skill", name, root],
    queryFn: () => data(api.GET("/v1/skills/{name}", { params: { path: { name }, query: { root } } })),
  });

/** The facts about the signed-in person; with their history, also those that were true. */
export const factsQuery = (history: boolean) =>
  queryOptions({
    queryKey: ["memory", "facts", history],
    queryFn: () => data(api.GET("/v1/memory/facts", { params: { query: { history } } })),
    placeholderData: keepPreviousData,
  });

const MEMORIES_PAGE = 30;

/** The memories of the signed-in person, latest first, a page at a time. */
export const memoriesQuery = infiniteQueryOptions({
  queryKey: ["memory", "memories"],
  queryFn: ({ pageParam }) => data(api.GET("/v1/memory/memories", { params: { query: { limit: MEMORIES_PAGE, before: pageParam } } })),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page) => page.next ?? undefined,
});

/** The memories that bear on these words: of a session as its turns find them, else of all sessions. */
export const memorySearchQuery = (words: string, session: string) =>
  queryOptions({
    queryKey: ["memory", "search", words, session],
    queryFn: () => data(api.GET("/v1/memory/search", { params: { query: { query: words, session: session || undefined, limit: 10 } } })),
    enabled: words !== "",
  });

/** The memories that a turn was planned with, and the rankings that chose them then. */
export const recalledQuery = (turn: string) =>
  queryOptions({
    queryKey: ["memory", "recalled", turn],
    queryFn: () => data(api.GET("/v1/turns/{turn_id}/memories", { params: { path: { turn_id: turn } } })),
  });

/** What the signed-in person rated; the component that rates reads it again. */
export const ratingsQuery = queryOptions({
  queryKey: ["memory", "ratings"],
  queryFn: () => data(api.GET("/v1/memory/ratings")),
  staleTime: Infinity,
});

/** The weights that ratings and decisions give to memories and kinds. */
export const weightsQuery = queryOptions({ queryKey: ["memory", "weights"], queryFn: () => data(api.GET("/v1/memory/adaptation")) });

export const moodQuery = queryOptions({ queryKey: ["memory", "mood"], queryFn: () => data(api.GET("/v1/memory/modulators")) });

/** How answers of the default agent are to be written; empty if nothing is asked for. */
export const personaQuery = queryOptions({
  queryKey: ["memory", "persona"],
  queryFn: async () => (await data(api.GET("/v1/memory/personas/{agent}", { params: { path: { agent: "default" } } }))).text,
});

/** Reports of sleeps, read again while one runs. */
export const sleepsQuery = queryOptions({
  queryKey: ["memory", "sleeps"],
  queryFn: () => data(api.GET("/v1/memory/sleeps")),
  refetchInterval: ({ state }) => (state.data?.sleeps[0]?.state === "running" ? 1000 : false),
});

/** A session's first turns. */
export const turnsQuery = (session: string) =>
  queryOptions({
    queryKey: ["turns", session],
    queryFn: () => data(api.GET("/v1/sessions/{session_id}/history", { params: { path: { session_id: session } } })),
    enabled: session !== "",
  });

/** What makes pictures and documents here, and whether that is enabled. */
export const capabilitiesQuery = queryOptions({
  queryKey: ["capabilities"],
  queryFn: () => data(api.GET("/v1/multimodal/capabilities")),
});

const JOBS_PAGE = 50;

/** The jobs of the sessions that one sees, newest first, a page at a time. */
export const jobsQuery = infiniteQueryOptions({
  queryKey: ["jobs"],
  queryFn: ({ pageParam }) => data(api.GET("/v1/multimodal/jobs", { params: { query: { limit: JOBS_PAGE, before: pageParam } } })),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page) => page.next ?? undefined,
  refetchInterval: POLL,
});

/** A job. `moved` changes whenever one of its steps has. */
export const jobQuery = (id: string, moved = "") =>
  queryOptions({
    queryKey: ["job", id, moved],
    queryFn: () => data(api.GET("/v1/multimodal/jobs/{job_id}", { params: { path: { job_id: id } } })),
    placeholderData: keepPreviousData,
  });

export const provenanceQuery = (asset: string) =>
  queryOptions({
    queryKey: ["provenance", asset],
    queryFn: () => data(api.GET("/v1/multimodal/assets/{asset_id}/provenance", { params: { path: { asset_id: asset } } })),
  });
