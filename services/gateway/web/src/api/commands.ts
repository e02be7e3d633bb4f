// Commands to a session: each is sent once, however often a person presses.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { tellProblem, tellReport } from "@/components/toast";
import { Attempts } from "./attempts";
import { api, data, newKey, type Schemas } from "./client";
import { answerRefusal, reportChange } from "./outcomes";
import { asProblem, Problem } from "./problem";

const REASON_MOST = 2000;
/** The status of a server that can take nothing for a moment. */
const BUSY = 503;
const once = () => ({ "Idempotency-Key": newKey() });

export interface NewTask {
  text: string;
  session?: string | undefined;
  root?: string | undefined;
  hitl?: Schemas["Hitl"] | undefined;
  skill?: string | undefined;
  agent?: string | undefined;
  /** The ids of uploaded files. */
  attachments?: string[] | undefined;
}

export function useSend() {
  const client = useQueryClient();
  const [attempts] = useState(() => new Attempts());
  return useMutation({
    mutationFn: ({ text, session, root, hitl, skill, agent, attachments = [] }: NewTask) => {
      const body = { text, session_id: session, root, hitl, skill, agent, on_busy: "queue" as const, attachments };
      return attempts.send(body, (key) => data(api.POST("/v1/sessions/message", { params: { header: { "Idempotency-Key": key } }, body })));
    },
    // Under the same key, so that a request that was taken after all is not taken twice.
    retry: (failures, error) => asProblem(error).status === BUSY && failures < 2,
    onSuccess: () => client.invalidateQueries({ queryKey: ["sessions"] }),
    onError: tellProblem,
  });
}

export function useCancel() {
  return useMutation({
    mutationFn: (turn: string) =>
      data(
        api.POST("/v1/turns/{turn_id}/cancel", {
          params: { path: { turn_id: turn }, header: once() },
          body: { reason: "stopped in the browser" },
        }),
      ),
    onError: tellProblem,
  });
}

export interface GivenRating {
  subject: string;
  of: "answer" | "memory";
  /** From -1 to 1; 0 takes a rating back. */
  score: number;
  comment?: string;
}

/** Rate an answer, by its turn, or a memory. */
export function useRate() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async ({ subject, of, score, comment = "" }: GivenRating): Promise<void> => {
      const body = { score, comment };
      if (of === "answer") await data(api.PUT("/v1/turns/{turn_id}/rating", { params: { path: { turn_id: subject } }, body }));
      else await data(api.PUT("/v1/memory/memories/{memory_id}/rating", { params: { path: { memory_id: subject } }, body }));
    },
    onError: tellProblem,
    onSettled: () => client.invalidateQueries({ queryKey: ["memory"] }),
  });
}

/** A task again, with what shall be different. */
export function amended(task: string, change: string): string {
  return `${task.trim().replace(/[.!?\s]+$/, "")}, but ${change.trim()}`;
}

export interface Proposal {
  session: string;
  approval: string;
  digest: string;
  task: string;
}

/** Refuse a proposal, and ask for the same task with a change. A proposal that was answered meanwhile stays as it is. */
export function useReplan() {
  const send = useSend();
  return useMutation({
    mutationFn: async ({ session, approval, digest, task, change, attachments }: Proposal & { change: string; attachments?: string[] }) => {
      const refused = await data(
        api.POST("/v1/approvals/{approval_id}", {
          params: { path: { approval_id: approval }, header: once() },
          body: { verdict: "deny", digest, reason: change.slice(0, REASON_MOST), exclude: [] },
        }),
      );
      const refusal = answerRefusal(refused.outcome);
      if (refusal !== null) throw new Problem(-1, "NOT_REFUSED", refusal);
      return send.mutateAsync({ session, text: amended(task, change), attachments });
    },
    onError: tellProblem,
  });
}

export interface Answer {
  verdict: "approve" | "deny" | "override";
  reason?: string;
  exclude?: string[];
  args?: Record<string, unknown>;
}

/** Show why an answer did not count: the question stays open, and would look as if nothing had been pressed. */
function tellRefusal({ outcome }: Schemas["Commanded"]): void {
  const refusal = answerRefusal(outcome);
  if (refusal !== null) tellProblem(refusal);
}

/** Answer an approval. Another person or tab may have been faster; then its answer counts, and is shown. */
export function useAnswer(approval: string, digest: string, onMutate?: () => void) {
  const client = useQueryClient();
  return useMutation({
    ...(onMutate && { onMutate }),
    mutationFn: (answer: Answer) =>
      data(
        api.POST("/v1/approvals/{approval_id}", {
          params: { path: { approval_id: approval }, header: once() },
          body: { reason: "", exclude: [], ...answer, digest },
        }),
      ),
    onSuccess: tellRefusal,
    onError: tellProblem,
    onSettled: () => client.invalidateQueries({ queryKey: ["approvals"] }),
  });
}

/** Report whether an effect of unknown outcome happened. */
export function useFinding(effect: string, digest: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (finding: { verdict: "happened" | "did_not_happen"; reason: string }) =>
      data(
        api.POST("/v1/effects/{effect_id}", {
          params: { path: { effect_id: effect }, header: once() },
          body: { ...finding, digest },
        }),
      ),
    onSuccess: tellRefusal,
    onError: tellProblem,
    onSettled: () => client.invalidateQueries({ queryKey: ["approvals"] }),
  });
}

/** What an undo takes back: a commit, a rollback of one, which is a redo, or what is proposed since a snapshot. */
export type UndoTarget = { commit_id: string; redo?: boolean } | { snapshot: string };

export function useUndo(session: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (target: UndoTarget) =>
      data(
        api.POST("/v1/sessions/{session_id}/rollback", {
          params: { path: { session_id: session }, header: once() },
          body: { exclude: [], redo: false, ...target },
        }),
      ),
    onSuccess: ({ outcome }, target) => { tellReport(reportChange("redo" in target && target.redo ? "redone" : "rolled_back", outcome)); },
    onError: tellProblem,
    onSettled: () => client.invalidateQueries(),
  });
}
