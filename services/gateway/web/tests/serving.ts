// A server for component tests: it answers each request of the API from a function, and keeps what it was asked.
import { api } from "@/api/client";

export interface Asked {
  method: string;
  path: string;
  key: string | null;
  body: unknown;
}

type Answer = Response | Promise<Response>;

export const json = (body: unknown, status = 200) => new Response(JSON.stringify(body), { status, headers: { "Content-Type": "application/json" } });

/** Serve the API until `stop` is called. */
export function serving(answer: (asked: Asked) => Answer): { asked: Asked[]; stop: () => void } {
  const asked: Asked[] = [];
  const middleware = {
    async onRequest({ request }: { request: Request }) {
      const text = await request.text();
      const url = new URL(request.url);
      const one = { method: request.method, path: url.pathname + url.search, key: request.headers.get("Idempotency-Key"), body: text === "" ? null : (JSON.parse(text) as unknown) };
      asked.push(one);
      return answer(one);
    },
  };
  api.use(middleware);
  return { asked, stop: () => { api.eject(middleware); } };
}
