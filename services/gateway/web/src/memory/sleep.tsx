import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Moon, Undo2 } from "lucide-react";
import { api, data, type Schemas } from "@/api/client";
import { sleepsQuery } from "@/api/queries";
import { Loaded } from "@/components/states";
import { Ago } from "@/components/time";
import { tell, tellProblem } from "@/components/toast";
import { Badge, Button } from "@/components/ui";
import { count } from "@/lib/format";
import { LIST, ROW, Section } from "./section";

type Report = Schemas["SleepReport"];
const WHOLE = { nrem: true, rem: true };

/** Consolidation of memories: how many wait for it, what it did, and how to take that back. */
export function Sleep() {
  const client = useQueryClient();
  const query = useQuery(sleepsQuery);
  const begin = useMutation({
    mutationFn: () => data(api.POST("/v1/memory/sleeps", { body: WHOLE })),
    onError: tellProblem,
    onSettled: () => client.invalidateQueries({ queryKey: ["memory"] }),
  });
  return (
    <Section title="Sleep" about="Merges repeated memories, lets old ones fade, and links near ones. It begins by itself when many wait.">
      <Loaded query={query}>
        {({ waiting, cognitive_load, sleeps }) => (
          <>
            <div className="flex flex-wrap items-center gap-3">
              <Button busy={begin.isPending || sleeps[0]?.state === "running"} onClick={() => { begin.mutate(); }}><Moon aria-hidden className="size-4" /> Sleep now</Button>
              <span className="text-sm text-muted">{count(waiting, "memory", "memories")} not consolidated yet (load {Math.round(cognitive_load * 100)} %)</span>
            </div>
            {sleeps.length > 0 && <ul className={LIST}>{sleeps.map((report) => <Row key={report.id} report={report} />)}</ul>}
          </>
        )}
      </Loaded>
    </Section>
  );
}

function Row({ report }: { report: Report }) {
  const client = useQueryClient();
  const undo = useMutation({
    mutationFn: () => data(api.POST("/v1/memory/sleeps/{sleep_id}/undo", { params: { path: { sleep_id: report.id } } })),
    onSuccess: () => { tell("The sleep is undone."); },
    onError: tellProblem,
    onSettled: () => client.invalidateQueries({ queryKey: ["memory"] }),
  });
  return (
    <li className={ROW}>
      <span className="min-w-0 flex-1 basis-56">{count(report.scanned, "memory", "memories")} looked at, {report.merged} merged, {report.linked} linked</span>
      <Badge tone={report.state === "failed" ? "danger" : "neutral"}>{report.state}</Badge>
      <span className="text-sm text-muted"><Ago time={report.started_at} /></span>
      {(report.state === "done" || report.state === "failed") && (
        <Button size="small" busy={undo.isPending} onClick={() => { undo.mutate(); }}><Undo2 aria-hidden className="size-3.5" /> Undo</Button>
      )}
    </li>
  );
}
