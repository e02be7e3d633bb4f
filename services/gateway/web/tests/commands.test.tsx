// @vitest-environment happy-dom
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, render, renderHook, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import { useSend, useUndo } from "@/api/commands";
import { Toasts } from "@/components/toast";
import { json, serving } from "./serving";

let stop = () => {};
afterEach(() => {
  cleanup();
  stop();
});

/** Return a command as a page uses it. */
function used<T>(command: () => T): { current: T } {
  const client = new QueryClient();
  return renderHook(command, { wrapper: ({ children }) => <QueryClientProvider client={client}>{children}</QueryClientProvider> }).result;
}

/** Return what sends a text, and the keys. The server answers with these statuses, one after another; 0 is no answer. */
function sending(...statuses: number[]) {
  const server = serving(({ method }) => {
    // After a failure the page reads its state again, sooner or later.
    if (method !== "POST") return json({});
    const status = statuses.shift() ?? 202;
    return status === 0 ? Promise.reject(new TypeError("Failed to fetch")) : json({}, status);
  });
  stop = server.stop;
  const result = used(useSend);
  const send = (text: string) => result.current.mutateAsync({ text }).catch(() => undefined);
  return { send, keys: () => server.asked.filter(({ method }) => method === "POST").map(({ key }) => key) };
}

test.each([0, 503])("a message whose answer was lost keeps its key (%i)", async (status) => {
  const { send, keys } = sending(status, 429, 202, 202);
  for (let attempt = 0; attempt < 4; attempt += 1) await send("tidy");
  const [lost, ...later] = keys();
  expect(later.slice(0, 2)).toEqual([lost, lost]);
  expect(later[2]).not.toBe(lost);
});

test("another message has another key", async () => {
  const { send, keys } = sending(503);
  await send("tidy");
  await send("sort");
  expect(new Set(keys()).size).toBe(2);
});

const refused = (detail: string) => ({ seq: 2, type: "turn.ended", turn_id: "t", time: "2026-03-02T09:15:09Z", data: { turn_id: "t", state: "refused", reason: "BUSY", detail } });
const answering = (outcome: object | null) => { stop = serving(() => json({ session_id: "s", turn_id: "t", request_id: "r", after: 1, outcome })).stop; };

test("a redo under way is not reported as done", async () => {
  render(<Toasts />);
  answering(null);
  const undo = used(() => useUndo("s"));
  await act(() => undo.current.mutateAsync({ commit_id: "c", redo: true }));
  expect(await screen.findByText("The redo is under way.")).toBeTruthy();
});

test("a refused rollback says why", async () => {
  render(<Toasts />);
  answering(refused("another turn is under way"));
  const rollback = used(() => useUndo("s"));
  await act(() => rollback.current.mutateAsync({ commit_id: "c" }));
  expect(await screen.findByText("Not undone: another turn is under way")).toBeTruthy();
});
