// Sign-in: a one-time code from the link that Suma printed, or an API key, is traded for a cookie. Neither is kept here.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import { type FormEvent, type ReactNode, useEffect, useState } from "react";
import { onSignedOut } from "@/api/client";
import { answered, asProblem, type Problem, problemOf } from "@/api/problem";
import { meQuery, readMe } from "@/api/queries";
import { Failed, useShownError } from "@/components/states";
import { tellProblem } from "@/components/toast";
import { Button, Card, Spinner, TextField } from "@/components/ui";
import { forgetAnswerDrafts } from "@/session/answer-drafts";
import { forgetSessions } from "@/session/use-live";

/** Take a one-time code out of the address, so that it stays in no history. */
function takeCode(): string | null {
  const url = new URL(location.href);
  const code = url.searchParams.get("code");
  if (code === null) return null;
  url.searchParams.delete("code");
  history.replaceState(history.state, "", url);
  return code;
}

async function signIn(credential: string): Promise<void> {
  const headers = { Authorization: `Bearer ${credential}`, "Content-Type": "application/json" };
  const answer = await answered(fetch("/v1/signin", { method: "POST", headers }));
  if (!answer.ok) throw problemOf(answer.status, await answer.json().catch(() => null));
}

/** End the sign-in of this browser, and leave the page; show why if the server did not end it. */
export async function signOut(): Promise<void> {
  try {
    const answer = await answered(fetch("/v1/signout", { method: "POST", headers: { "Content-Type": "application/json" } }));
    // At 401 the browser is signed out already.
    if (!answer.ok && answer.status !== 401) throw problemOf(answer.status, await answer.json().catch(() => null));
    location.assign("/");
  } catch (error) {
    tellProblem(error);
  }
}

/** Milliseconds between attempts to open the application while the server does not answer. */
const AGAIN = 3000;

let opening: Promise<Problem | null> | null = null;

/** Use the code of the address, once for the page. Return what was wrong with it. */
function openWithCode(): Promise<Problem | null> {
  const code = opening === null ? takeCode() : null;
  opening ??= code === null ? Promise.resolve(null) : signIn(code).then(() => null, asProblem);
  return opening;
}

/** The signed-in person; every page below it may read the API. */
export function SignedIn({ children }: { children: ReactNode }) {
  const client = useQueryClient();
  const [out, setOut] = useState(false);
  const [bad, setBad] = useState<Problem | null>(null);
  const me = useQuery({
    ...meQuery,
    queryFn: async () => {
      setBad(await openWithCode());
      return readMe();
    },
    refetchInterval: (query) => (asProblem(query.state.error).offline ? AGAIN : false),
  });
  const error = useShownError(me);
  useEffect(() => onSignedOut(() => { setOut(true); }), []);
  const unknown = asProblem(me.error).status === 401;
  if (out || (me.isError && unknown)) {
    const done = () => {
      forgetSessions();
      forgetAnswerDrafts();
      client.clear();
      setOut(false);
      void me.refetch();
    };
    return <SignInForm done={done} problem={bad} />;
  }
  if (me.data === undefined && error && asProblem(error).status !== 401) return <Failed whole error={error} retry={() => void me.refetch()} />;
  if (me.isPending) return <Splash />;
  return children;
}

function Splash() {
  return (
    <div role="status" className="flex h-full items-center justify-center gap-2 text-muted">
      <Spinner /> Opening Suma…
    </div>
  );
}

function SignInForm({ done, problem }: { done: () => void; problem: Problem | null }) {
  const [key, setKey] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState(problem?.message ?? null);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    try {
      await signIn(key.trim());
      done();
    } catch (failed) {
      setError(asProblem(failed).message);
      setBusy(false);
    }
  };
  return (
    <main className="flex min-h-full items-center justify-center p-4">
      <Card className="w-full max-w-sm p-6 shadow-float">
        <img src="/icon.svg" alt="" className="mb-4 size-9" />
        <h1 className="text-xl font-semibold tracking-tight">Sign in to Suma</h1>
        <p className="mt-1 mb-4 text-sm text-muted">
          Run <code className="font-mono">suma open</code> in a terminal, or enter an API key.
        </p>
        <form onSubmit={(event) => void submit(event)} className="flex flex-col gap-4">
          <TextField
            label="API key"
            type="password"
            autoComplete="off"
            required
            value={key}
            onChange={(event) => { setKey(event.target.value); }}
            error={error}
            hint="The key of this machine is in the file “key” of Suma's data folder."
          />
          <Button look="primary" type="submit" busy={busy}>
            <KeyRound aria-hidden className="size-4" /> Sign in
          </Button>
        </form>
      </Card>
    </main>
  );
}
