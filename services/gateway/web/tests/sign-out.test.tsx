// @vitest-environment happy-dom
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Toasts } from "@/components/toast";
import { signOut } from "@/shell/sign-in";

const left = vi.fn();
beforeEach(() => { vi.spyOn(location, "assign").mockImplementation(left); });
afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  left.mockClear();
});

const serve = (answer: () => Promise<Response>) => { vi.stubGlobal("fetch", answer); };

test.each([204, 401])("sign-out leaves the page at status %i", async (status) => {
  serve(() => Promise.resolve(new Response(null, { status })));
  await signOut();
  expect(left).toHaveBeenCalledWith("/");
});

test("a failed sign-out is shown and stays", async () => {
  render(<Toasts />);
  serve(() => Promise.resolve(new Response(JSON.stringify({ detail: "Postgres is away." }), { status: 503 })));
  await signOut();
  serve(() => Promise.reject(new TypeError("Failed to fetch")));
  await signOut();
  expect(await screen.findByText("Postgres is away.")).toBeTruthy();
  expect(screen.getByText(/Suma does not answer/)).toBeTruthy();
  expect(left).not.toHaveBeenCalled();
});
