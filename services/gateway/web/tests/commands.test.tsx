// @vitest-environment happy-dom
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, renderHook } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import { useSend } from "@/api/commands";
import { json, serving } from "./serving";

let stop = () => {};
afterEach(() => {
  cleanup();
  stop();
});

/** Return what sends a text, and the requests. The server answers with these statuses, one after another. */
function sending(...statuses: number[]) {
  const server = serving(() => {
    const status = statuses.shift() ?? 202;
    return status === 0 ? Promise.reject(new TypeError("Failed to fetch")) : json({}, status);
  });
  stop = server.stop;
  const client = new QueryClient();
  const { result } = renderHook(useSend, { wrapper: ({ children }) => <QueryClientProvider client={client}>{children}</QueryClientProvider> });
  const send = (text: string) => result.current.mutateAsync({ text }).catch(() => undefined);
  return { send, keys: () => server.asked.map(({ key }) => key) };
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
