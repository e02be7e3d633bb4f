import { expect, test } from "vitest";
import { ago, bytes, count, duration } from "@/lib/format";

test("sizes have decimal units", () => {
  expect([0, 999, 1000, 1234, 12_345_678, 2e12].map(bytes)).toEqual(["0 B", "999 B", "1 kB", "1.2 kB", "12 MB", "2 TB"]);
});

test("durations are as exact as a person needs", () => {
  expect([12, 4200, 61_000, 7_800_000].map(duration)).toEqual(["12 ms", "4.2 s", "1 min 1 s", "2 h 10 min"]);
});

test("times are told by their distance", () => {
  const now = Date.parse("2026-05-05T12:00:00Z");
  expect(ago("2026-05-05T11:59:50Z", now)).toBe("just now");
  expect(ago("2026-05-05T12:00:10Z", now)).toBe("just now");
  expect(ago("2026-05-05T11:55:00Z", now)).toBe("5 min. ago");
  expect(ago("2026-05-06T12:00:00Z", now)).toBe("tomorrow");
});

test("counts agree with their noun", () => {
  expect([count(1, "file"), count(1200, "file"), count(2, "entry", "entries")]).toEqual(["1 file", "1,200 files", "2 entries"]);
});
