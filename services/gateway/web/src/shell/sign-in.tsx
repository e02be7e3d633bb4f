// Sign-in: a one-time code from the link that Suma printed, or an API key, is traded for a cookie. Neither is kept here.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import { type FormEvent, type ReactNode, useEffect, useState } from "react";
import { onSignedOut, type Schemas } from "@/api/client";
import { answered, asProblem, type Problem, problemOf } from "@/api/problem";
import { meQuery, readMe } from "@/api/queries";
import { Failed, useShownError } from "@/components/states";
import { tellProblem } from "@/components/toast";
import { Button, Card, Spinner, TextField } from "@/components/ui";
import { forgetAnswerDrafts } from "@/session/answer-drafts";
import { forgetSessions } from "@/session/use-live";

type SignsIn = Schemas["SignsIn"];

/** Take a one-time code out of the address, so that it stays in no history. */
function takeCode(): string | null {
  const url = new URL(location.href);
  const code = url.searchParams.get("code");
  if (code === null) return null;
  url.searchParams.delete("code");
  history.replaceState(history.state, "", url);
  return code;
}

/** Ask about a credential (GET), or sign in with it (POST). */
async function signIn(credential: string, method: "GET" | "POST" = "POST"): Promise<unknown> {
  const headers = { Authorization: `Bearer ${credential}`, "Content-Type": "application/json" };
  const answer = await answered(fetch("/v1/signin", { method, headers }));
  const told: unknown = await answer.json().catch(() => null);
  if (!answer.ok) throw problemOf(answer.status, told);
  return told;
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

/** A link that signs in somebody else than the person who is signed in here. */
interface Other {
  code: string;
  coming: SignsIn;
}

interface Opened {
  problem: Problem | null;
  other: Other | null;
}

let opening: Promise<Opened> | null = null;

/** Use the code of the address, once for the page, unless somebody else is signed in here. */
function openWithCode(): Promise<Opened> {
  const code = opening === null ? takeCode() : null;
  opening ??= code === null ? Promise.resolve({ problem: null, other: null }) : tryCode(code);
  return opening;
}

async function tryCode(code: string): Promise<Opened> {
  try {
    const coming = (await signIn(code, "GET")) as SignsIn;
    if (coming.instead_of !== null) return { problem: null, other: { code, coming } };
    await signIn(code);
    return { problem: null, other: null };
  } catch (error) {
    return { problem: asProblem(error), other: null };
  }
}

/** The signed-in person; every page below it may read the API. */
export function SignedIn({ children }: { children: ReactNode }) {
  const client = useQueryClient();
  const [out, setOut] = useState(false);
  const [bad, setBad] = useState<Problem | null>(null);
  const [other, setOther] = useState<Other | null>(null);
  const me = useQuery({
    ...meQuery,
    queryFn: async () => {
      const opened = await openWithCode();
      opening = Promise.resolve({ problem: null, other: null });
      setBad(opened.problem);
      setOther((asked) => opened.other ?? asked);
      return readMe();
    },
    refetchInterval: (query) => (asProblem(query.state.error).offline ? AGAIN : false),
  });
  const error = useShownError(me);
  useEffect(() => onSignedOut(() => { setOut(true); }), []);
  const unknown = asProblem(me.error).status === 401;
  const done = () => {
    forgetSessions();
    forgetAnswerDrafts();
    client.clear();
    setOut(false);
    setOther(null);
    void me.refetch();
  };
  if (other) return <InsteadOf other={other} stay={() => { setOther(null); }} done={done} />;
  if (out || (me.isError && unknown)) {
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

/** The frame of a question about who signs in. */
function Door({ children }: { children: ReactNode }) {
  return (
    <main className="flex min-h-full items-center justify-center p-4">
      <Card className="w-full max-w-sm p-6 shadow-float">{children}</Card>
    </main>
  );
}

/** One attempt to sign in after another, and what was wrong with the last. */
function useSignIn(done: () => void, problem: Problem | null) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState(problem?.message ?? null);
  const attempt = async (credential: string) => {
    setBusy(true);
    try {
      await signIn(credential);
      done();
    } catch (failed) {
      setError(asProblem(failed).message);
      setBusy(false);
    }
  };
  return { busy, error, attempt };
}

/** Ask before a link replaces the person who is signed in. */
function InsteadOf({ other, stay, done }: { other: Other; stay: () => void; done: () => void }) {
  const { busy, error, attempt } = useSignIn(done, null);
  const { principal, instead_of: here } = other.coming;
  return (
    <Door>
      <h1 className="text-xl font-semibold tracking-tight [overflow-wrap:anywhere]">
        Sign in as {principal} instead of {here}?
      </h1>
      <p className="mt-1 mb-4 text-sm text-muted">
        The link that you opened is for another person. What you do after that is theirs. Go on only if you asked for it.
      </p>
      {error && <p role="alert" className="mb-4 text-sm text-danger">{error}</p>}
      <div className="flex flex-wrap gap-2">
        <Button look="primary" onClick={stay}>Stay {here}</Button>
        <Button busy={busy} onClick={() => void attempt(other.code)}>Sign in as {principal}</Button>
      </div>
    </Door>
  );
}

function SignInForm({ done, problem }: { done: () => void; problem: Problem | null }) {
  const [key, setKey] = useState("");
  const { busy, error, attempt } = useSignIn(done, problem);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void attempt(key.trim());
  };
  return (
    <Door>
      <img src="/icon.svg" alt="" className="mb-4 size-9" />
      <h1 className="text-xl font-semibold tracking-tight">Sign in to Suma</h1>
      <p className="mt-1 mb-4 text-sm text-muted">
        Run <code className="font-mono">suma open</code> in a terminal, or enter an API key.
      </p>
      <form onSubmit={submit} className="flex flex-col gap-4">
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
    </Door>
  );
}
