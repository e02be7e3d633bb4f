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

test("arguments stored apart cannot be edited", () => {
  shown(ask({ args: { path: "a.txt", content: { $blob: "abc", size: 20_000 } } }));
  expect(screen.queryByRole("button", { name: "Edit arguments" })).toBeNull();
  expect(screen.getByText(/too long to edit here/)).toBeTruthy();
});

const COMMIT = { kind: "commit", diff: { version: 1, count: 2, entries: [{ change: "deleted", path: "a.txt", kind: "file" }, { change: "deleted", path: "b.txt", kind: "file" }] } };

test("edited arguments start without what was left out", async () => {
  const asked = served(() => closed("overridden"));
  shown(ask({ approval_id: "edited", args: { paths: ["a.txt", "b.txt"], to: "old" }, items: [{ id: "a.txt" }, { id: "b.txt" }] }));
  await userEvent.click(screen.getByLabelText("b.txt"));
  await press("Edit arguments");
  await press("Approve with these");
  expect(asked[0]?.body).toMatchObject({ verdict: "override", exclude: [], args: { paths: ["a.txt"], to: "old" } });
});

test("a returning view shows the draft of its answer", async () => {
  const leave = shown(ask({ turn_id: "returning", ...COMMIT }, "commit"));
  await userEvent.click(screen.getByLabelText("Include a.txt"));
  await press("Refuse");
  await userEvent.type(screen.getByLabelText(/Why not/), "not yet");
  leave();
  shown(ask({ turn_id: "returning", ...COMMIT }, "commit"));
  expect(screen.getByRole("button", { name: "Approve without 1 item" })).toBeTruthy();
  await press("Refuse");
  expect(screen.getByLabelText<HTMLInputElement>(/Why not/).value).toBe("not yet");
});

test("a commit asked again excludes only what it still has", async () => {
  const leave = shown(ask({ turn_id: "again", ...COMMIT }, "commit"));
  await userEvent.click(screen.getByLabelText("Include a.txt"));
  await userEvent.click(screen.getByLabelText("Include b.txt"));
  leave();
  const again = { ...COMMIT.diff, count: 1, entries: COMMIT.diff.entries.slice(1) };
  const next = shown(ask({ turn_id: "again", approval_id: "a2", ...COMMIT, diff: again }, "commit"));
  expect(screen.getByRole("button", { name: "Approve without 1 item" })).toBeTruthy();
  next();
  shown(ask({ turn_id: "another", approval_id: "a3", ...COMMIT }, "commit"));
  expect(screen.getByRole("button", { name: "Approve" })).toBeTruthy();
});
