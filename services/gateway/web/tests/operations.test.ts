import { expect, test } from "vitest";
import { rowsOf, type Setting } from "@/lib/settings";
import { chartsOf, perMinute, type Sample } from "@/operations/series";

const sample = (at: string, changes: Partial<Sample> = {}): Sample => ({
  at: `2026-05-05T12:00:${at}Z`, turns: 0, tool_calls: 0, allowed: 0, denied: 0, unanswered: 0, dead_letters: 0, requests: 0, p95_seconds: null, lag: 0, memory_bytes: 0, ...changes,
});

test("a rate counts the time that its sample really took", () => {
  const samples = [sample("00", { turns: 1 }), sample("15", { turns: 1 }), sample("45", { turns: 1 })];
  expect(perMinute(samples, 15, (at) => at.turns)).toEqual([4, 4, 2]);
});

test("a time without requests has no response time", () => {
  const chart = chartsOf([sample("00"), sample("15", { p95_seconds: 0.25 })], 15).find(({ title }) => title === "Response time, 95%");
  expect(chart?.lines[0]?.values).toEqual([null, 250]);
});

const setting = (name: string, changes: Partial<Setting> = {}): Setting => ({
  name, service: "platform", variable: `SUMA_${name.toUpperCase()}`, value: "1", secret: false, set: true, origin: "default", source: "default", description: "", ...changes,
});
const SETTINGS = [setting("port", { description: "The gateway's port" }), setting("log", { origin: "file" }), setting("gateway.page", { service: "gateway" })];
const names = (wanted: Partial<Parameters<typeof rowsOf>[1]>) =>
  rowsOf(SETTINGS, { words: "", service: "", changed: false, ...wanted }).map((row) => (row.kind === "heading" ? `# ${row.service} ${row.count.toString()}` : row.setting.name));

test("settings stand below their service, and each word must occur", () => {
  expect(names({})).toEqual(["# platform 2", "port", "log", "# gateway 1", "gateway.page"]);
  expect(names({ words: "PORT gateway's" })).toEqual(["# platform 1", "port"]);
  expect(names({ words: "port nothing" })).toEqual([]);
});

test("settings are chosen by service and by whether they were changed", () => {
  expect(names({ service: "gateway" })).toEqual(["# gateway 1", "gateway.page"]);
  expect(names({ changed: true })).toEqual(["# platform 1", "log"]);
});
