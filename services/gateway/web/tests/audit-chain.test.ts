import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { verifyExport } from "@/lib/audit-chain";

// Written by libs/audit/export.py, whose own verifier accepts it.
const GOOD = readFileSync(fileURLToPath(new URL("audit-export.jsonl", import.meta.url)), "utf8").trim().split("\n");

async function* given(lines: string[]): AsyncGenerator<string> {
  yield* await Promise.resolve(lines);
}

const verify = (lines: string[]) => verifyExport(given(lines));

describe("an audit export", () => {
  it("is proved when it is whole", async () => {
    expect(await verify(GOOD)).toMatchObject({ ok: true, count: 3, firstBad: null });
  });

  it("names the record that was changed", async () => {
    const changed = GOOD.map((line) => line.replace('"action":"tool.execute"', '"action":"tool.explain"'));
    expect(await verify(changed)).toMatchObject({ ok: false, firstBad: 2 });
  });

  it("names the first record that is missing", async () => {
    expect(await verify(GOOD.filter((_, n) => n !== 2))).toMatchObject({ ok: false, firstBad: 2 });
  });

  it("is refused when its end is cut", async () => {
    expect(await verify(GOOD.slice(0, -1))).toMatchObject({ ok: false, problem: expect.stringContaining("cut") as string });
  });

  it("is refused with another signature", async () => {
    const forged = GOOD.map((line) => line.replace(/"signature":"../, '"signature":"00'));
    const verdict = await verify(forged);
    expect(verdict.ok).toBe(!verdict.signatures);
  });
});
