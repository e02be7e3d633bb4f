// A step that runs a command: its output while it is written, and how it ended. All of it is foreign text.
import { createContext, Fragment, useContext } from "react";
import { Badge } from "@/components/ui";
import type { Drafts } from "@/session/reduce";
import type { StepView } from "@/session/types";

/** The partial texts of the session. A context, since they change ten times a second and few parts show them. */
export const Live = createContext<Drafts | null>(null);

interface Refused {
  path: string;
  reason: string;
}

/** The result of a command, or its shorter form without lists. */
interface Command {
  exit_code: number | null;
  output: string;
  limit: string | null;
  sandbox: string;
  changed?: string[];
  refused?: Refused[];
  left_out?: string[];
}

const LIMITS: Record<string, string> = { time: "ran out of time", output: "wrote too much output", memory: "ran out of memory", disk: "wrote too many files", cancelled: "was cancelled" };

export function commandOf({ latest }: StepView): Command | null {
  const data = latest?.data;
  return data && "exit_code" in data ? (data as unknown as Command) : null;
}

const ended = ({ limit, exit_code }: Command) => (limit ? (LIMITS[limit] ?? limit) : exit_code === null ? "ended without a code" : `ended with code ${exit_code.toString()}`);

/** Marks a command that did not end well. */
export function CommandBadge({ done }: { done: Command | null }) {
  return done && (done.limit ?? done.exit_code) !== 0 && <Badge tone="danger">{ended(done)}</Badge>;
}

/** What a running command has written so far. */
export function CommandOutput({ step }: { step: StepView }) {
  const live = useContext(Live);
  const ours = live !== null && live.step !== null && live.step === step.latest?.step_id;
  return ours && <div className="px-2 pb-2"><Output text={live.text} label={`Output of step ${step.ordinal.toString()} so far`} /></div>;
}

/** What the summary of a command leaves out. Its arguments are those of the step. */
export function CommandResult({ step }: { step: StepView }) {
  const done = commandOf(step);
  if (done === null) return null;
  const lists = { Changed: done.changed, Refused: done.refused?.map(({ path, reason }) => `${path} (${reason})`), "Not in the sandbox": done.left_out };
  return (
    <>
      {done.output && <Output text={done.output} label={`Output of step ${step.ordinal.toString()}`} />}
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-0.5 [&_dd]:min-w-0 [&_dd]:[overflow-wrap:anywhere] [&_dt]:text-muted">
        <dt>Sandbox</dt>
        <dd>{done.sandbox}</dd>
        {Object.entries(lists).map(([title, paths]) => (paths ?? []).length > 0 && <Fragment key={title}><dt>{title}</dt><dd>{paths?.join(", ")}</dd></Fragment>)}
      </dl>
    </>
  );
}

/** The output of a program. The server bounds it: of a longer one come the beginning, the end, and a download. */
function Output({ text, label }: { text: string; label: string }) {
  return (
    // A region that scrolls must be reachable by keyboard.
    <pre tabIndex={0} role="region" aria-label={label} className="max-h-72 overflow-auto rounded-lg border border-line bg-sunken p-2.5 font-mono text-xs whitespace-pre-wrap [overflow-wrap:anywhere]">
      {text}
    </pre>
  );
}
