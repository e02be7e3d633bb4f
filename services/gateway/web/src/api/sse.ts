// Server-sent events over fetch: unlike EventSource it shows why a connection ended, so that a page can say so.

export interface SseEvent {
  type: string;
  id: string | null;
  data: string;
}

export interface SseParser {
  /** Take a piece of the stream; return the events that it completes. */
  push: (piece: string) => SseEvent[];
  /** Milliseconds after which the server wants us back; null if it did not say. */
  retry: () => number | null;
}

/** A parser of the event-stream format (HTML standard, 9.2.6). Pieces may end anywhere. */
export function parser(): SseParser {
  let rest = "";
  let fields = { type: "message", id: null as string | null, data: [] as string[] };
  let wait: number | null = null;

  function line(text: string, out: SseEvent[]): void {
    if (text === "") {
      if (fields.data.length > 0) out.push({ ...fields, data: fields.data.join("\n") });
      fields = { type: "message", id: null, data: [] };
      return;
    }
    const colon = text.indexOf(":");
    const name = colon < 0 ? text : text.slice(0, colon);
    const value = colon < 0 ? "" : text.slice(colon + 1).replace(/^ /, "");
    if (name === "event") fields.type = value;
    else if (name === "id") fields.id = value;
    else if (name === "data") fields.data.push(value);
    else if (name === "retry" && /^\d+$/.test(value)) wait = Number(value);
  }

  return {
    push(piece) {
      const out: SseEvent[] = [];
      const lines = (rest + piece).split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? "";
      for (const each of lines) line(each, out);
      return out;
    },
    retry: () => wait,
  };
}
