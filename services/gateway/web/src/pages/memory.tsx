import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { BookMarked, Download, Pencil, Search, ShieldAlert, Trash2 } from "lucide-react";
import { useState } from "react";
import { api, data, type Schemas } from "@/api/client";
import { factsQuery, memoriesQuery, memorySearchQuery, recalledQuery, sessionsQuery, turnsQuery } from "@/api/queries";
import { Dialog } from "@/components/dialog";
import { More } from "@/components/more";
import { Empty, Loaded } from "@/components/states";
import { Thumbs } from "@/components/thumbs";
import { Ago } from "@/components/time";
import { tell, tellProblem } from "@/components/toast";
import { Badge, Button, IconButton, Page, SelectField, TextField } from "@/components/ui";
import { count } from "@/lib/format";
import { useLater } from "@/lib/use-later";
import { Mood, Persona, Ratings } from "@/memory/mind";
import { LIST, ROW, Section } from "@/memory/section";
import { Sleep } from "@/memory/sleep";

type Fact = Schemas["FactShown"];
type Memory = Schemas["MemoryShown"];
type Recalled = Schemas["RecalledShown"];

/** Memory: the facts and memories of the signed-in person, to correct and forget, and why a turn was given which. */
export default function MemoryPage() {
  return (
    <Page title="Memory" about="What Suma remembers of you. Nobody else sees it." actions={<Export />}>
      <div className="flex flex-col gap-8">
        <Facts />
        <Recall />
        <Memories />
        <Ratings />
        <Sleep />
        <Mood />
        <Persona />
        <Erase />
      </div>
    </Page>
  );
}

const SOURCES: Record<string, string> = { person: "you", extraction: "a conversation", tool: "a tool" };

function nameOf({ subject, key }: Fact): string {
  return subject === "me" ? key : `${subject} ${key}`;
}

function Facts() {
  const [history, setHistory] = useState(false);
  const [editing, setEditing] = useState<Fact | null>(null);
  const query = useQuery(factsQuery(history));
  return (
    <Section title="Facts" about="They are given to each plan and answer. The newer value of a setting replaces the older one.">
      <label className="flex w-fit items-center gap-2 text-sm">
        <input type="checkbox" checked={history} onChange={(event) => { setHistory(event.target.checked); }} /> Show history
      </label>
      <Loaded query={query} empty={({ facts }) => facts.length === 0 && <Empty icon={BookMarked} title="No facts yet">Say “remember that invoices go to Finance/2026” in a task.</Empty>}>
        {({ facts }) => (
          <ul className={LIST}>
            {facts.map((fact) => <FactRow key={fact.id} fact={fact} onEdit={setEditing} />)}
          </ul>
        )}
      </Loaded>
      {editing && <EditDialog fact={editing} onClose={() => { setEditing(null); }} />}
    </Section>
  );
}

function useForget() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ fact, memory }: { fact?: string; memory?: string }) =>
      fact
        ? data(api.DELETE("/v1/memory/facts/{fact_id}", { params: { path: { fact_id: fact } } }))
        : data(api.DELETE("/v1/memory/memories/{memory_id}", { params: { path: { memory_id: memory ?? "" } } })),
    onSuccess: () => { tell("Forgotten."); },
    onError: tellProblem,
    onSettled: () => client.invalidateQueries({ queryKey: ["memory"] }),
  });
}

function FactRow({ fact, onEdit }: { fact: Fact; onEdit: (fact: Fact) => void }) {
  const forget = useForget();
  const active = fact.state === "active";
  return (
    <li className={ROW}>
      <span className="min-w-0 flex-1 basis-56 [overflow-wrap:anywhere]">
        <span className="text-muted">{nameOf(fact) || "forgotten"}</span> <span className="font-medium">{fact.value}</span>
      </span>
      {!active && <Badge>{fact.state}</Badge>}
      {fact.untrusted && <Badge tone="warn"><ShieldAlert aria-hidden className="size-3" /> untrusted</Badge>}
      <span className="text-sm text-muted">
        from {fact.session_id ? <Link to="/chat/{-$session}" params={{ session: fact.session_id }} className="underline">{SOURCES[fact.source] ?? fact.source}</Link> : SOURCES[fact.source] ?? fact.source}, {Math.round(fact.confidence * 100)} % sure, <Ago time={fact.valid_from} />
      </span>
      {active && (
        <span className="flex">
          <IconButton label={`Correct ${nameOf(fact)}`} onClick={() => { onEdit(fact); }}><Pencil aria-hidden className="size-4" /></IconButton>
          <IconButton label={`Forget ${nameOf(fact)}`} disabled={forget.isPending} onClick={() => { forget.mutate({ fact: fact.id }); }}><Trash2 aria-hidden className="size-4" /></IconButton>
        </span>
      )}
    </li>
  );
}

function EditDialog({ fact, onClose }: { fact: Fact; onClose: () => void }) {
  const client = useQueryClient();
  const [value, setValue] = useState(fact.value);
  const save = useMutation({
    mutationFn: async () => {
      await data(api.PUT("/v1/memory/facts", { body: { subject: fact.subject, key: fact.key, value: value.trim() } }));
      // A setting with several values keeps the old one beside the new one.
      if (fact.many) await data(api.DELETE("/v1/memory/facts/{fact_id}", { params: { path: { fact_id: fact.id } } }));
    },
    onSuccess: () => {
      tell("Corrected.");
      onClose();
    },
    onError: tellProblem,
    onSettled: () => client.invalidateQueries({ queryKey: ["memory"] }),
  });
  return (
    <Dialog open onClose={onClose} title="Correct a fact" about="Your word counts more than any other source.">
      <form className="flex flex-col gap-4" onSubmit={(event) => { event.preventDefault(); save.mutate(); }}>
        <TextField label={nameOf(fact)} value={value} maxLength={2000} onChange={(event) => { setValue(event.target.value); }} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" busy={save.isPending} disabled={value.trim() === "" || value.trim() === fact.value}>Save</Button>
        </div>
      </form>
    </Dialog>
  );
}

/** A rank, or the share of the score of what has none, such as feedback. */
function reasonOf({ name, rank, contribution }: Recalled["sources"][number]): string {
  const share = contribution.toFixed(2);
  return rank > 0 ? `${name} no. ${String(rank)} (${share})` : `${name} (${contribution > 0 ? "+" : ""}${share})`;
}

function Score({ score, sources }: Pick<Recalled, "score" | "sources">) {
  return <span className="text-sm text-muted">score {score.toFixed(2)}: {sources.map(reasonOf).join(" + ")}</span>;
}

/** The memories that a task was planned with, as they were chosen then. */
function Given({ turn }: { turn: string }) {
  return (
    <>
      <h3 className="mt-4 font-medium">Planned with</h3>
      <Loaded query={useQuery(recalledQuery(turn))} empty={({ memories }) => memories.length === 0 && <p className="text-sm text-muted">No memory of its session fitted when it was planned.</p>}>
        {({ memories }) => (
          <ol className={LIST}>
            {memories.map(({ id, text, score, sources }) => (
              <li key={id} className={ROW}>
                <span className="min-w-0 flex-1 basis-56 [overflow-wrap:anywhere]">{text ?? "Forgotten since"}</span>
                <Score score={score} sources={sources} />
              </li>
            ))}
          </ol>
        )}
      </Loaded>
    </>
  );
}

/** What a turn was given of its session's memories, and what its words recall now, with the ranks behind each score. */
function Recall() {
  const sessions = useInfiniteQuery(sessionsQuery()).data?.pages[0]?.sessions ?? [];
  const [session, setSession] = useState("");
  const [words, setWords] = useState("");
  const [task, setTask] = useState("");
  const turns = useQuery(turnsQuery(session)).data?.turns ?? [];
  const asked = useLater(words.trim());
  const query = useQuery(memorySearchQuery(asked, session));
  return (
    <Section title="Recall" about="Choose a session and one of its tasks to see which memories it was planned with, which fit it now, and why; or search all in words of your own.">
      <div className="flex flex-wrap gap-3">
        <SelectField label="Session" value={session} onChange={(event) => { setSession(event.target.value); setTask(""); setWords(""); }} className="min-w-0 flex-1 basis-52">
          <option value="">All sessions</option>
          {sessions.map(({ session_id, title }) => <option key={session_id} value={session_id}>{title ?? "Untitled"}</option>)}
        </SelectField>
        {turns.length > 0 && (
          <SelectField
            label="Task"
            value={task}
            onChange={({ target }) => { setTask(target.value); setWords(turns.find(({ turn_id }) => turn_id === target.value)?.text ?? ""); }}
            className="min-w-0 flex-1 basis-52"
          >
            <option value="">Words of my own</option>
            {turns.filter(({ text }) => text !== "").map(({ turn_id, text }) => <option key={turn_id} value={turn_id}>{text.slice(0, 80)}</option>)}
          </SelectField>
        )}
        <TextField label="Search" type="search" placeholder="Words of a memory" value={words} onChange={(event) => { setWords(event.target.value); }} className="min-w-0 flex-1 basis-52" />
      </div>
      {task !== "" && <Given turn={task} />}
      {task !== "" && asked !== "" && <h3 className="mt-4 font-medium">Fits now</h3>}
      {asked !== "" && (
        <Loaded query={query} empty={({ memories }) => memories.length === 0 && <Empty icon={Search} title="No memory fits" />}>
          {({ memories, waiting, lagging }) => (
            <>
              <ol className={LIST}>
                {memories.map(({ id, text, score, sources, newer }) => (
                  <li key={id} className={ROW}>
                    <span className="min-w-0 flex-1 basis-56 [overflow-wrap:anywhere]">{text}</span>
                    {newer && <Badge tone="warn">a newer memory may replace it</Badge>}
                    <Score score={score} sources={sources} />
                    <Thumbs subject={id} of="memory" />
                  </li>
                ))}
              </ol>
              {waiting > 0 && <p className="text-sm text-muted">{count(waiting, "memory", "memories")} not consolidated yet; they are recalled as they were said.</p>}
              {lagging && <p className="text-sm text-muted">Some memories are being embedded again; until then meaning counts for less.</p>}
            </>
          )}
        </Loaded>
      )}
    </Section>
  );
}

function Memories() {
  const query = useInfiniteQuery(memoriesQuery);
  return (
    <Section title="Memories" about="What was said and done in your sessions, the latest first.">
      <Loaded query={query} empty={({ pages }) => pages[0]?.memories.length === 0 && <Empty icon={BookMarked} title="No memories yet">Each task leaves some.</Empty>}>
        {({ pages }) => (
          <ul className={LIST}>
            {pages.flatMap(({ memories }) => memories).map((memory) => <MemoryRow key={memory.id} memory={memory} />)}
          </ul>
        )}
      </Loaded>
      <More query={query} of="memories" />
    </Section>
  );
}

function MemoryRow({ memory }: { memory: Memory }) {
  const forget = useForget();
  return (
    <li className={ROW}>
      <span className="line-clamp-3 min-w-0 flex-1 basis-56 [overflow-wrap:anywhere]">{memory.text}</span>
      <Badge>{memory.kind}</Badge>
      {memory.source && <span className="text-sm text-muted [overflow-wrap:anywhere]">from {memory.source}</span>}
      <Thumbs subject={memory.id} of="memory" />
      <span className="text-sm text-muted">
        {memory.session_id ? <Link to="/chat/{-$session}" params={{ session: memory.session_id }} className="underline"><Ago time={memory.created_at} /></Link> : <Ago time={memory.created_at} />}
      </span>
      <IconButton label="Forget this memory" disabled={forget.isPending} onClick={() => { forget.mutate({ memory: memory.id }); }}><Trash2 aria-hidden className="size-4" /></IconButton>
    </li>
  );
}

function Export() {
  return (
    <a href="/v1/memory/export" download="suma-export.jsonl" className="inline-flex items-center gap-1.5 font-medium text-muted hover:text-ink">
      <Download aria-hidden className="size-4" /> Export my data
    </a>
  );
}

function Erase() {
  const client = useQueryClient();
  const [asking, setAsking] = useState(false);
  const erase = useMutation({
    mutationFn: () => data(api.POST("/v1/memory/erase")),
    onSuccess: () => { tell("Your data is being erased."); },
    onError: tellProblem,
    onSettled: () => {
      setAsking(false);
      return client.invalidateQueries();
    },
  });
  return (
    <Section title="Erase" about="Your sessions, uploads, facts and memories. Files in your folders stay.">
      <Button className="w-fit" onClick={() => { setAsking(true); }}>Erase my data…</Button>
      <Dialog open={asking} onClose={() => { setAsking(false); }} title="Erase all your data?">
        <p>All your sessions with their history, your uploads, and all that is remembered of you will be gone. This cannot be undone.</p>
        <div className="flex justify-end gap-2 pt-4">
          <Button onClick={() => { setAsking(false); }}>Cancel</Button>
          <Button look="danger" busy={erase.isPending} onClick={() => { erase.mutate(); }}>Erase</Button>
        </div>
      </Dialog>
    </Section>
  );
}
