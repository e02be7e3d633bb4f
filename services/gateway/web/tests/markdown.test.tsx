// @vitest-environment happy-dom
import { cleanup, render, waitFor } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import { Markdown } from "@/components/markdown";

afterEach(cleanup);

async function shown(text: string): Promise<HTMLElement> {
  const { container } = render(<Markdown text={text} />);
  await waitFor(() => {
    if (container.querySelector(".whitespace-pre-wrap")) throw new Error("not rendered yet");
    // The renderer is loaded when it is first needed, which takes a busy machine longer than a second.
  }, { timeout: 20_000 });
  return container;
}

test("text of a model runs no script and fetches no image", async () => {
  const page = await shown(
    "# Hi\n<script>alert(1)</script><img src=x onerror=alert(1)>\n\n![pixel](https://evil.example/p.png) [go](javascript:alert(1)) [data](data:text/html,x) [ok](https://example.org)",
  );
  expect(page.querySelectorAll("script, img, iframe")).toHaveLength(0);
  expect([...page.querySelectorAll("a")].map((link) => link.getAttribute("href"))).toEqual(["https://example.org"]);
  expect(page.textContent).toContain("[image: pixel]");
});

test("a link opens apart and tells nobody where it was", async () => {
  const link = (await shown("[ok](https://example.org)")).querySelector("a");
  expect(link?.rel.split(" ")).toEqual(expect.arrayContaining(["noopener", "noreferrer"]));
});

test("tables and lists are Markdown's", async () => {
  const page = await shown("| a | b |\n|---|---|\n| 1 | 2 |\n\n- x\n- y");
  expect(page.querySelectorAll("td, li")).toHaveLength(4);
});
