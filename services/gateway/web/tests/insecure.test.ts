// What a browser hides from a page on plain http.
import { afterEach, expect, test, vi } from "vitest";
import { asProblem } from "@/api/problem";
import { verifyExport } from "@/lib/audit-chain";
import { copy } from "@/lib/clipboard";

afterEach(() => { vi.unstubAllGlobals(); });

async function* nothing(): AsyncGenerator<string> {}

test("verifying without web crypto says what to do", async () => {
  vi.stubGlobal("crypto", {});
  await expect(verifyExport(nothing())).rejects.toThrow("suma audit verify");
});

test("copying without a clipboard says what to do", async () => {
  vi.stubGlobal("navigator", {});
  await expect(copy("key")).rejects.toThrow("copy it yourself");
});

test("only a failed fetch means that Suma is away", () => {
  expect(asProblem(new TypeError("x is undefined"))).toMatchObject({ offline: false, message: "TypeError: x is undefined" });
  expect(asProblem(new TypeError("Failed to fetch dynamically imported module: /assets/keys.js")).offline).toBe(true);
});
