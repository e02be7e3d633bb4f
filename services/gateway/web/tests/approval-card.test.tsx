// @vitest-environment happy-dom
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, test } from "vitest";
import { ApprovalCard, type Ask } from "@/chat/approval-card";
import { Toasts } from "@/components/toast";
import { json, serving } from "./serving";

let stop = () => {};
afterEach(() => {
  cleanup();
  stop();
});

const RECEIPT = { session_id: "s", turn_id: "t", request_id: "r", after: 1 };
const closed = (outcome: string, reason = "") =>
  json({ ...RECEIPT, outcome: { seq: 2, type: "approval.closed", turn_id: "t", time: "2026-03-02T09:15:09Z", data: { turn_id: "t", approval_id: "a", outcome, reason } } });

function ask(data: Partial<Ask["data"]>, kind = "step"): Ask {
  const asked = { turn_id: "t", approval_id: "a", kind, digest: "d", title: "Delete 3 files", expires_in: 60, ...data };
  const [askedAt, expiresAt] = ["2026-03-02T09:15:00Z", "2026-03-02T09:16:00Z"];
  return { session: "s", approvalId: asked.approval_id, kind, digest: "d", data: asked, askedAt, expiresAt, outcome: null, reason: null, principal: null };
}

function shown(card: Ask) {
  const { unmount } = render(
    <QueryClientProvider client={new QueryClient()}>
      <ApprovalCard ask={card} />
      <Toasts />
    </QueryClientProvider>,
  );
  return unmount;
}

const press = (name: string) => userEvent.click(screen.getByRole("button", { name }));

function served(answer: () => Response) {
  const server = serving(answer);
  stop = server.stop;
  return server.asked;
}

test("an answer that did not count says why", async () => {
  served(() => closed("stale", "nothing is called b.txt"));
  shown(ask({ args: { paths: ["a.txt"] } }));
  await press("Approve");
  expect(await screen.findByText("Your answer did not count: nothing is called b.txt")).toBeTruthy();
});

test("arguments of which one is stored apart cannot be edited", () => {
  shown(ask({ args: { path: "a.txt", content: { $blob: "abc", size: 20_000 } } }));
  expect(screen.queryByRole("button", { name: "Edit arguments" })).toBeNull();
  expect(screen.getByText(/too long to edit here/)).toBeTruthy();
});
