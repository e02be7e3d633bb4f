import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { ThumbsUp } from "lucide-react";
import { useId, useState } from "react";
import { api, data, type Schemas } from "@/api/client";
import { moodQuery, personaQuery, ratingsQuery, weightsQuery } from "@/api/queries";
import { Empty, Loaded } from "@/components/states";
import { Ago } from "@/components/time";
import { tell, tellProblem } from "@/components/toast";
import { Badge, Button, TextArea } from "@/components/ui";
import { LIST, ROW, Section } from "./section";

type Levels = Schemas["Modulators"];

/** A write that the memory page shows again. */
function useWrite<T>(write: (given: T) => Promise<unknown>, done: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: write,
    onSuccess: () => { tell(done); },
    onError: tellProblem,
    onSettled: () => client.invalidateQueries({ queryKey: ["memory"] }),
  });
}

/** What the person rated, and what ratings and decisions change. */
export function Ratings() {
  const given = useQuery(ratingsQuery);
  const weights = useQuery(weightsQuery).data?.weights ?? [];
  const reset = useWrite(() => data(api.DELETE("/v1/memory/adaptation")), "Ratings up to now no longer count.");
  return (
    <Section title="Ratings" about="They and your decisions on changes raise or lower memories, less with each day.">
      <Loaded query={given} empty={({ ratings }) => ratings.length === 0 && weights.length === 0 && <Empty icon={ThumbsUp} title="Nothing rated yet">Rate an answer below it, or a memory here.</Empty>}>
        {({ ratings }) => (
          <>
            {ratings.length > 0 && (
              <ul className={LIST}>
                {ratings.map(({ subject, score, comment, at }) => (
                  <li key={subject} className={ROW}>
                    <Badge tone={score > 0 ? "ok" : score < 0 ? "danger" : "neutral"}>{score > 0 ? "good" : score < 0 ? "bad" : "taken back"}</Badge>
                    <span className="min-w-0 flex-1 basis-56 [overflow-wrap:anywhere]">{comment || "without words"}</span>
                    <span className="text-sm text-muted"><Ago time={at} /></span>
                  </li>
                ))}
              </ul>
            )}
            {weights.length > 0 && (
              <details>
                <summary className="w-fit rounded py-1 text-sm font-medium text-accent-ink">Show weights</summary>
                <ul className={LIST}>
                  {weights.map(({ subject, weight }) => <li key={subject} className={ROW}><span className="min-w-0 flex-1 [overflow-wrap:anywhere]">{subject}</span> <span className="tabular-nums">× {weight.toFixed(2)}</span></li>)}
                </ul>
              </details>
            )}
            <Button className="w-fit" busy={reset.isPending} onClick={() => { reset.mutate(undefined); }}>Reset</Button>
          </>
        )}
      </Loaded>
    </Section>
  );
}

const LEVELS = [
  { name: "dopamine", effect: (now: Levels) => `exploration ${now.exploration_factor.toFixed(2)}${now.creativity_boost ? ", linked memories too" : ""}` },
  { name: "serotonin", effect: (now: Levels) => `patience ${now.patience.toFixed(2)}${now.empathy_boost ? ", answers begin with a kind word" : ""}` },
  { name: "noradrenaline", effect: (now: Levels) => `focus ${now.focus.toFixed(2)}${now.alertness_boost ? ", recent memories first" : ""}` },
  { name: "acetylcholine", effect: (now: Levels) => `ratings count ${(1 + now.acetylcholine).toFixed(2)} times` },
] as const;

/** The neuromodulators, to see and to set. */
export function Mood() {
  const query = useQuery(moodQuery);
  const set = useWrite((body: Schemas["ModulatorLevels"]) => data(api.PUT("/v1/memory/modulators", { body })), "Set.");
  return (
    <Section title="Mood" about="Levels that shape recall and answers. Dopamine returns to 0.4 by itself.">
      <Loaded query={query}>
        {(now) => (
          <ul className={LIST}>
            {LEVELS.map(({ name, effect }) => <Level key={`${name} ${String(now[name])}`} name={name} now={now[name]} effect={effect(now)} onSet={(level) => { set.mutate({ [name]: level }); }} />)}
          </ul>
        )}
      </Loaded>
    </Section>
  );
}

function Level({ name, now, effect, onSet }: { name: string; now: number; effect: string; onSet: (level: number) => void }) {
  const id = useId();
  const [level, setLevel] = useState(now);
  const commit = () => { if (level !== now) onSet(level); };
  return (
    <li className={ROW}>
      <label htmlFor={id} className="basis-32 font-medium first-letter:uppercase">{name}</label>
      <input id={id} type="range" min={0} max={1} step={0.05} value={level} onChange={(event) => { setLevel(Number(event.target.value)); }} onPointerUp={commit} onKeyUp={commit} className="min-w-0 flex-1 basis-40 accent-accent" />
      <span className="basis-10 tabular-nums">{level.toFixed(2)}</span>
      <span className="basis-56 text-sm text-muted">{effect}</span>
    </li>
  );
}

/** How answers are to be written. */
export function Persona() {
  const query = useQuery(personaQuery);
  return (
    <Section title="Manner" about="How answers are to be written. It changes their manner, and permits nothing.">
      <Loaded query={query}>{(text) => <Manner key={text} text={text} />}</Loaded>
    </Section>
  );
}

function Manner({ text }: { text: string }) {
  const [value, setValue] = useState(text);
  const path = { params: { path: { agent: "default" } } };
  const save = useWrite((said: string) => (said === "" ? data(api.DELETE("/v1/memory/personas/{agent}", path)) : data(api.PUT("/v1/memory/personas/{agent}", { ...path, body: { text: said } })).then(() => undefined)), "Saved.");
  return (
    <form className="flex flex-col gap-2" onSubmit={(event) => { event.preventDefault(); save.mutate(value.trim()); }}>
      <TextArea quiet label="Manner of answers" rows={2} maxLength={2000} placeholder="Answer in one line." value={value} onChange={(event) => { setValue(event.target.value); }} />
      <Button className="w-fit" type="submit" busy={save.isPending} disabled={value.trim() === text}>Save</Button>
    </form>
  );
}
