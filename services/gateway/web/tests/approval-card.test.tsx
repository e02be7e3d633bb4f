// @vitest-environment happy-dom
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, test, vi } from "vitest";
import { api } from "@/api/client";
import { ApprovalCard, type Ask } from "@/chat/approval-card";
import { DiffList } from "@/components/diff-list";
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
  keeping([]);
  shown(ask({ args: { path: "a.txt", content: { $blob: "abc", size: 20_000 } } }));
  expect(screen.queryByRole("button", { name: "Edit arguments" })).toBeNull();
  expect(screen.getByText(/too long to edit here/)).toBeTruthy();
});

const COMMIT = { kind: "commit", diff: { version: 1, count: 2, entries: [{ change: "deleted", path: "a.txt", kind: "file" }, { change: "deleted", path: "b.txt", kind: "file" }] } };

/** A server that keeps drafts as the platform does: a folder counts with all below it. */
function keeping(paths: string[], answer: () => Response = () => closed("overridden")) {
  let draft: Record<string, unknown> | null = null;
  const server = serving((asked) => {
    if (asked.method === "POST") return answer();
    if (asked.method === "PUT") {
      const { exclude, reason, digest } = asked.body as { exclude: string[]; reason: string; digest: string };
      const out = paths.filter((path) => exclude.some((left) => path === left || path.startsWith(`${left}/`))).length;
      draft = { exclude, reason, digest, makes: paths.length - out, leaves_out: out, problem: "", updated_at: "2026-03-02T09:15:00Z" };
      return json(draft);
    }
    return json({ draft });
  });
  stop = server.stop;
  return server.asked;
}

test("edited arguments start without what was left out", async () => {
  const asked = keeping(["a.txt", "b.txt"]);
  shown(ask({ approval_id: "edited", args: { paths: ["a.txt", "b.txt"], to: "old" }, items: [{ id: "a.txt" }, { id: "b.txt" }] }));
  await userEvent.click(screen.getByLabelText("b.txt"));
  await press("Edit arguments");
  await press("Approve with these");
  const answered = asked.find(({ method }) => method === "POST");
  expect(answered?.body).toMatchObject({ verdict: "override", exclude: [], args: { paths: ["a.txt"], to: "old" } });
});

test("a draft is kept on the server, for another tab and after a reload", async () => {
  keeping(["a.txt", "b.txt"]);
  const leave = shown(ask({ approval_id: "kept", ...COMMIT }, "commit"));
  await userEvent.click(screen.getByLabelText("Include a.txt"));
  expect(await screen.findByRole("button", { name: "Approve without 1 change" })).toBeTruthy();
  await press("Refuse");
  await userEvent.type(screen.getByLabelText(/Why not/), "not yet");
  await vi.waitFor(async () => { expect(((await (await fetchDraft("kept")).json()) as { draft: { reason: string } }).draft.reason).toBe("not yet"); });
  leave();
  shown(ask({ approval_id: "kept", ...COMMIT }, "commit"));
  expect(await screen.findByRole("button", { name: "Approve without 1 change" })).toBeTruthy();
  await press("Refuse");
  expect(screen.getByLabelText<HTMLInputElement>(/Why not/).value).toBe("not yet");
});

const fetchDraft = async (approval: string) => {
  const { response } = await api.GET("/v1/approvals/{approval_id}", { params: { path: { approval_id: approval } }, parseAs: "stream" });
  return response;
};

const SORTED = ["Archives", "Archives/a.zip", "Archives/b.zip", "Code"];
const SORTING = {
  kind: "commit",
  diff: {
    version: 1,
    count: 4,
    created: 2,
    moved: 2,
    groups: [{ change: "moved", folder: "Archives", count: 2, things: 2 }, { change: "created", folder: "", count: 2, things: 2 }],
    entries: [
      { change: "moved", path: "Archives/a.zip", source: "a.zip", kind: "file" },
      { change: "moved", path: "Archives/b.zip", source: "b.zip", kind: "file" },
      { change: "created", path: "Archives", kind: "directory" },
      { change: "created", path: "Code", kind: "directory" },
    ],
  },
};

test("a folder that is left out takes along what goes into it", async () => {
  keeping(SORTED);
  shown(ask({ approval_id: "folder", ...SORTING }, "commit"));
  await userEvent.click(screen.getByLabelText("Include Archives"));
  expect(screen.getByLabelText<HTMLInputElement>("Include Archives/a.zip")).toMatchObject({ checked: false, disabled: true });
  expect(await screen.findByRole("button", { name: "Approve without 3 changes" })).toBeTruthy();
  await userEvent.click(screen.getByLabelText("Include Archives"));
  expect(await screen.findByRole("button", { name: "Approve" })).toBeTruthy();
});

test("deletions stand first and open, with the copy that stays", () => {
  keeping([]);
  const entries = [{ change: "deleted", path: "b.txt", kind: "file", same_as: "a.txt" }, ...SORTING.diff.entries];
  const groups = [{ change: "deleted", folder: "", count: 1, things: 1 }, { change: "moved", folder: "Images", count: 400, things: 400 }, { change: "moved", folder: "Code", count: 1560, things: 1560 }];
  const { container } = render(<QueryClientProvider client={new QueryClient()}><DiffList diff={{ version: 1, count: 1961, deleted: 1, moved: 1960, groups, entries }} session="s" /></QueryClientProvider>);
  const [first, second] = container.querySelectorAll<HTMLDetailsElement>("details");
  expect([first?.open, first?.textContent]).toEqual([true, "Delete 1deleted: b.txtidentical to a.txt, which stays"]);
  expect([second?.open, second?.querySelector("summary")?.textContent]).toEqual([false, "Move 1,960 to 2 folders"]);
});

test("a refused proposal is planned again with its reason", async () => {
  const asked = keeping([], () => closed("denied"));
  render(<QueryClientProvider client={new QueryClient()}><ApprovalCard ask={ask({ approval_id: "again", ...COMMIT }, "commit")} task="remove duplicates." /></QueryClientProvider>);
  await press("Refuse");
  await userEvent.type(screen.getByLabelText(/Why not/), "keep the letters");
  await press("Refuse and plan again");
  await vi.waitFor(() => { expect(asked.filter(({ method }) => method === "POST")).toHaveLength(2); });
  const [refused, sent] = asked.filter(({ method }) => method === "POST");
  expect(refused?.body).toMatchObject({ verdict: "deny", reason: "keep the letters" });
  expect(sent?.body).toMatchObject({ text: "remove duplicates, but keep the letters", session_id: "s" });
});
