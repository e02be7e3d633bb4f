import { useSyncExternalStore } from "react";
import { LiveSession, type Live } from "./live";

const KEPT = 8;
const sessions = new Map<string, LiveSession>();

/** The latest sessions keep what they have seen, so that going back shows them at once. */
function sessionOf(id: string): LiveSession {
  const found = sessions.get(id) ?? new LiveSession(id);
  sessions.delete(id);
  sessions.set(id, found);
  const oldest = sessions.keys().next().value;
  if (sessions.size > KEPT && oldest !== undefined) sessions.delete(oldest);
  return found;
}

/** Follow a session while the component is shown. */
export function useLive(id: string): Live {
  const session = sessionOf(id);
  return useSyncExternalStore(session.subscribe, session.read);
}

/** Forget what was seen, for another person may sign in. */
export function forgetSessions(): void {
  sessions.clear();
}
