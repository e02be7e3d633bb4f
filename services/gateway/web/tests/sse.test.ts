import { expect, test } from "vitest";
import { parser } from "@/api/sse";

test("events are read however the stream is cut", () => {
  const stream = 'id: 7\nevent: turn.started\ndata: {"a":1}\n\n: ping\n\nevent: delta\r\ndata: x\r\ndata: y\r\n\r\n';
  for (let size = 1; size < stream.length; size++) {
    const parse = parser();
    const events = [];
    for (let at = 0; at < stream.length; at += size) events.push(...parse.push(stream.slice(at, at + size)));
    expect(events, `cut every ${size.toString()} characters`).toEqual([
      { type: "turn.started", id: "7", data: '{"a":1}' },
      { type: "delta", id: null, data: "x\ny" },
    ]);
  }
});

test("an incomplete event is not told", () => {
  expect(parser().push("id: 1\ndata: half")).toEqual([]);
});

test("the server may say when to come back", () => {
  const parse = parser();
  parse.push("retry: 1500\n\n");
  expect(parse.retry()).toBe(1500);
});
