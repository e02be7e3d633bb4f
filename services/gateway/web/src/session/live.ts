// The live view of a session: one connection per open session, resumed after the last event that was seen.
import { type Schemas, signedOut } from "@/api/client";
import { answered, asProblem, problemOf, type Problem } from "@/api/problem";
import { parser, type SseEvent } from "@/api/sse";
import { drafted, EMPTY, reduce, remaining, type Drafts, type SessionView } from "./reduce";
import type { Event } from "./types";

export type Connection = "connecting" | "live" | "reconnecting" | "refused";

export interface Live {
  view: SessionView;
  drafts: Drafts | null;
  connection: Connection;
  /** Why the connection is refused or was lost. */
  problem: Problem | null;
}

const FIRST_WAIT = 500;
const LONGEST_WAIT = 8000;
/** Longer than three heartbeats of the server: then the connection is dead, even if nobody closed it. */
const SILENCE = 50_000;

export class LiveSession {
  private state: Live = { view: EMPTY, drafts: null, connection: "connecting", problem: null };
  private readonly listeners = new Set<() => void>();
  private stop: AbortController | null = null;
  private frame: number | null = null;
  private wait = FIRST_WAIT;

  constructor(private readonly session: string) {}

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    if (this.stop === null) void this.follow();
    return () => {
      this.listeners.delete(listener);
      if (this.listeners.size === 0) this.close();
    };
  };

  readonly read = (): Live => this.state;

  private close(): void {
    this.stop?.abort();
    this.stop = null;
  }

  private async follow(): Promise<void> {
    const stop = new AbortController();
    this.stop = stop;
    this.show({ connection: "connecting", problem: null });
    while (!stop.signal.aborted) {
      let problem: Problem | null = null;
      try {
        await this.connect(stop.signal);
      } catch (error) {
        problem = asProblem(error);
        if (problem.status === 401) signedOut();
        if ([401, 403, 404].includes(problem.status)) {
          if (!stop.signal.aborted) this.show({ connection: "refused", problem });
          return;
        }
      }
      if (stop.signal.aborted) return;
      this.show({ connection: "reconnecting", problem });
      await pause(this.wait, stop.signal);
      this.wait = Math.min(this.wait * 2, LONGEST_WAIT);
    }
  }

  private async connect(signal: AbortSignal): Promise<void> {
    const alive = new AbortController();
    const both = AbortSignal.any([signal, alive.signal]);
    const headers = { Accept: "text/event-stream", "Last-Event-ID": this.state.view.seq.toString() };
    const url = `/v1/sessions/${encodeURIComponent(this.session)}/events`;
    const answer = await answered(fetch(url, { headers, signal: both, cache: "no-store" }));
    if (!answer.ok) throw problemOf(answer.status, await answer.json().catch(() => null));
    if (answer.body === null) return;
    // A new stream sends an answer's text from its start.
    this.show({ connection: "live", problem: null, drafts: null });
    const parse = parser();
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let watch = setTimeout(() => { alive.abort(); }, SILENCE);
    try {
      for (;;) {
        const { done, value } = await answered(reader.read());
        if (done) return;
        clearTimeout(watch);
        watch = setTimeout(() => { alive.abort(); }, SILENCE);
        // Only a stream that says something proves that the server is well.
        this.wait = parse.retry() ?? FIRST_WAIT;
        for (const event of parse.push(value)) this.take(event);
      }
    } finally {
      clearTimeout(watch);
      await reader.cancel().catch(() => undefined);
    }
  }

  private take(event: SseEvent): void {
    const body = JSON.parse(event.data) as unknown;
    if (event.type === "delta") {
      this.show({ drafts: drafted(this.state.drafts, body as Schemas["Delta"]) });
      return;
    }
    const view = reduce(this.state.view, body as Event);
    this.show({ view, drafts: remaining(this.state.drafts, body as Event) });
  }

  /** Change the state, and tell the viewers at most once a frame: a replay has thousands of events. */
  private show(part: Partial<Live>): void {
    this.state = { ...this.state, ...part };
    if (this.frame !== null) return;
    const tell = () => {
      this.frame = null;
      for (const listener of this.listeners) listener();
    };
    // A hidden tab draws no frames.
    this.frame = document.hidden ? window.setTimeout(tell, 200) : requestAnimationFrame(tell);
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms * (0.75 + Math.random() / 2));
    const now = () => {
      clearTimeout(timer);
      resolve();
    };
    signal.addEventListener("abort", now, { once: true });
    window.addEventListener("online", now, { once: true });
  });
}
