// @vitest-environment happy-dom
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import { CommandBadge, commandOf, CommandOutput, CommandResult, Live } from "@/chat/command";
import type { StepView } from "@/session/types";

afterEach(cleanup);

const HOSTILE = "<img src=x onerror=alert(1)> **bold** https://attacker.example";

function step(state: string, result: Record<string, unknown> | null = null): StepView {
  const data = result && { exit_code: 0, output: "", limit: null, sandbox: "bubblewrap", changed: [], refused: [], ...result };
  const latest = { turn_id: "t", plan_id: "p", step_id: "s1", ordinal: 1, tool: "run-commands.run", description: "Run", state: "running" as const, ...(data && { data }) };
  return { ordinal: 1, planned: null, latest, state, startedAt: null, endedAt: null, attempts: 1 };
}

test.each([
  ["s1", true],
  ["s2", false],
  [null, false],
])("only the output of the own step is live", (of, seen) => {
  render(<Live value={{ call: "c", attempt: 1, turn: "t", step: of, text: "ran 1 test" }}><CommandOutput step={step("running")} /></Live>);
  expect(screen.queryByText("ran 1 test") !== null).toBe(seen);
});

test("output is text alone", () => {
  const { container } = render(<CommandResult step={step("succeeded", { output: HOSTILE })} />);
  expect(screen.getByRole("region", { name: "Output of step 1" }).textContent).toBe(HOSTILE);
  expect(container.querySelector("img, a, strong")).toBeNull();
});

test("a result names the sandbox, and each path with its reason", () => {
  const { container } = render(<CommandResult step={step("succeeded", { changed: ["a.txt"], refused: [{ path: "dev", reason: "a device" }], left_out: ["big.bin"] })} />);
  expect([...container.querySelectorAll("dd")].map(({ textContent }) => textContent)).toEqual(["bubblewrap", "a.txt", "dev (a device)", "big.bin"]);
});

test.each([
  [{ exit_code: 0 }, ""],
  [{ exit_code: 2 }, "ended with code 2"],
  [{ exit_code: -9, limit: "time" }, "ran out of time"],
])("only a command that ends badly is marked", (result, words) => {
  const { container } = render(<CommandBadge done={commandOf(step("succeeded", result))} />);
  expect(container.textContent).toBe(words);
});
