// The door to the API: typed by proto/openapi.yaml, with one kind of error, and aware of the sign-in.
import createClient, { type Middleware } from "openapi-fetch";
import type { components, paths } from "./generated/openapi";
import { answered, problemOf } from "./problem";

export type Schemas = components["schemas"];

type Listener = () => void;
const signedOutListeners = new Set<Listener>();

/** Call `listener` when the server no longer accepts our cookie; return a function that stops this. */
export function onSignedOut(listener: Listener): () => void {
  signedOutListeners.add(listener);
  return () => signedOutListeners.delete(listener);
}

export function signedOut(): void {
  for (const listener of signedOutListeners) listener();
}

/** A text that marks a request as one, however often it is sent. */
export function newKey(): string {
  // randomUUID exists only on https and localhost.
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

const door: Middleware = {
  onRequest({ request }) {
    if (request.method !== "GET") request.headers.set("Content-Type", "application/json");
    return request;
  },
  onResponse({ response, request }) {
    if (response.status === 401 && !request.headers.has("Authorization")) signedOut();
  },
};

export const api = createClient<paths>({ baseUrl: "/" });
api.use(door);

interface Answer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** Return the data of an answer. Throws Problem. */
export async function data<T>(answer: Promise<Answer<T>>): Promise<T> {
  const { data: found, error, response } = await answered(answer);
  if (!response.ok) throw problemOf(response.status, error);
  return found as T;
}
