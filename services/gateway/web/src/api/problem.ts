// Errors of the API: problem documents (RFC 9457), and the absence of an answer.

export class Problem extends Error {
  constructor(
    /** The HTTP status; 0 if the server did not answer. */
    readonly status: number,
    /** The stable code, such as `POLICY_DENIED`. */
    readonly code: string,
    detail: string,
  ) {
    super(detail);
    this.name = "Problem";
  }

  get offline(): boolean {
    return this.status === 0;
  }
}

export const UNREACHABLE = new Problem(0, "UNREACHABLE", "Suma does not answer. It may be stopped or restarting.");

/** Return the problem that a response states, or one made from its status. */
export function problemOf(status: number, body: unknown): Problem {
  const said = typeof body === "object" && body !== null ? (body as Record<string, unknown>) : {};
  const code = typeof said.code === "string" ? said.code : `HTTP_${status.toString()}`;
  const detail = typeof said.detail === "string" ? said.detail : `The server answered with status ${status.toString()}.`;
  return new Problem(status, code, detail);
}

/** How browsers word that a part of the application could not be fetched. */
const NOT_LOADED = /dynamically imported module|module script failed/;

export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof TypeError && NOT_LOADED.test(error.message)) return UNREACHABLE;
  return new Problem(-1, "UNEXPECTED", String(error));
}

/** Return the answer to a request. Throws UNREACHABLE where none came, which `fetch` reports as a TypeError. */
export async function answered<T>(request: Promise<T>): Promise<T> {
  try {
    return await request;
  } catch (error) {
    throw error instanceof TypeError ? UNREACHABLE : error;
  }
}
