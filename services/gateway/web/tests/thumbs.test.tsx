// @vitest-environment happy-dom
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, test } from "vitest";
import { Thumbs } from "@/components/thumbs";
import { json, serving } from "./serving";

let stop = () => {};
afterEach(() => {
  stop();
  cleanup();
});

/** Show the thumbs of an answer to a person with these scopes; return what the API was asked to write. */
function shown(scopes: string[]): unknown[] {
  const written: { score: number; comment: string }[] = [];
  ({ stop } = serving(({ method, path, body }) => {
    if (method === "PUT") written.push(body as { score: number; comment: string });
    if (path === "/v1/me") return json({ scopes });
    return json({ ratings: written.slice(-1).map((rating) => ({ subject: "t", at: "2026-03-02T09:15:04Z", ...rating })) });
  }));
  render(<QueryClientProvider client={new QueryClient()}><Thumbs subject="t" of="answer" /></QueryClientProvider>);
  return written;
}

const press = async (name: string) => userEvent.click(await screen.findByRole("button", { name }));

test("an answer is rated, explained and taken back", async () => {
  const written = shown(["memory"]);
  await press("Good answer");
  await userEvent.type(await screen.findByLabelText("Why?"), "That was right.");
  await press("Send");
  await expect.poll(() => screen.getByRole("button", { name: "Good answer", pressed: true })).toBeTruthy();
  await press("Good answer");
  await expect.poll(() => written).toEqual([{ score: 1, comment: "" }, { score: 1, comment: "That was right." }, { score: 0, comment: "" }]);
});

test("without the scope there is nothing to press", async () => {
  shown(["chat"]);
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  expect(screen.queryByRole("button")).toBeNull();
});
