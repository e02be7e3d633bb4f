import { useInfiniteQuery, useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ChevronRight, Download, RefreshCw, ScrollText, ShieldCheck, ShieldX } from "lucide-react";
import { useState } from "react";
import { api, data, type Schemas } from "@/api/client";
import { answered, problemOf } from "@/api/problem";
import { Json } from "@/components/json";
import { Empty, Failed, Loading, useShownError } from "@/components/states";
import { Ago } from "@/components/time";
import { tellProblem } from "@/components/toast";
import { Badge, Button, PageHead, SelectField, TextField, type Tone } from "@/components/ui";
import { VirtualList } from "@/components/virtual-list";
import { linesOf, type Verdict, verifyExport } from "@/lib/audit-chain";
import { count } from "@/lib/format";
import { useLater } from "@/lib/use-later";
import { useMore } from "@/lib/use-more";

type AuditRecord = Schemas["AuditRecord"];

const EXPORT = "/v1/admin/audit/export";
const VERDICTS = ["allow", "deny", "succeeded", "failed"];
const TONES: Record<string, Tone> = { allow: "ok", succeeded: "ok", deny: "danger", failed: "danger" };

/** Audit: search what was decided and done, verify that nothing of it was changed, and export it. */
export default function Audit() {
  const [action, setAction] = useState("");
  const [principal, setPrincipal] = useState("");
  const [verdict, setVerdict] = useState("");
  const [looks, setLooks] = useState(false);
  const filter = { action: useLater(action.trim()) || undefined, principal: useLater(principal.trim()) || undefined, verdict: verdict || undefined, looks };
  // Each read of the log is itself a record, so it is not polled.
  const query = useInfiniteQuery({
    queryKey: ["audit", filter],
    queryFn: ({ pageParam }) => data(api.GET("/v1/admin/audit", { params: { query: { ...filter, before: pageParam, limit: 200 } } })),
    initialPageParam: undefined as number | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
    staleTime: Infinity,
  });
  const more = useMore(query);
  const error = useShownError(query);
  const records = query.data?.pages.flatMap((page) => page.records) ?? [];
  return (
    <div className="flex h-full flex-col">
      <PageHead title="Audit" about="Every decision and its outcome, in a chain that shows any change.">
        <Button busy={query.isRefetching} onClick={() => void query.refetch()}>
          {!query.isRefetching && <RefreshCw aria-hidden className="size-4" />} Refresh
        </Button>
        <a href={EXPORT} download="audit.jsonl" className="inline-flex h-8.5 items-center gap-1.5 rounded-lg border border-line bg-surface px-3 font-medium shadow-sm hover:bg-hover">
          <Download aria-hidden className="size-4" /> Export
        </a>
      </PageHead>
      <div className="flex flex-col gap-3 px-4 pb-3 md:px-6">
        <Chain />
        <search className="flex flex-wrap items-end gap-2">
          <TextField label="Action" placeholder="tool.execute" value={action} onChange={(event) => { setAction(event.target.value); }} className="min-w-0 flex-1 basis-40" />
          <TextField label="Principal" placeholder="owner" value={principal} onChange={(event) => { setPrincipal(event.target.value); }} className="min-w-0 flex-1 basis-40" />
          <SelectField label="Verdict" value={verdict} onChange={(event) => { setVerdict(event.target.value); }} className="basis-36">
            <option value="">Any</option>
            {VERDICTS.map((each) => <option key={each}>{each}</option>)}
          </SelectField>
          <label className="flex h-9 items-center gap-2 text-sm">
            <input type="checkbox" checked={looks} onChange={() => { setLooks(!looks); }} className="size-4 accent-(--accent)" /> Also what was only read
          </label>
        </search>
      </div>
      <div className="min-h-0 flex-1 px-2 md:px-4">
        {query.data === undefined ? (
          error ? <Failed error={error} retry={() => void query.refetch()} /> : <Loading rows={8} />
        ) : records.length === 0 ? (
          <Empty icon={ScrollText} title="No record matches">Names are compared whole, such as workspace.commit.</Empty>
        ) : (
          <VirtualList items={records} keyOf={(record) => record.position.toString()} height={44} label="Audit records" more={more}>
            {(record) => <Row record={record} />}
          </VirtualList>
        )}
      </div>
    </div>
  );
}

function Row({ record }: { record: AuditRecord }) {
  return (
    <details className="group border-b border-line px-2">
      <summary className="flex cursor-pointer list-none flex-wrap items-center gap-x-3 gap-y-0.5 py-2.5">
        <ChevronRight aria-hidden className="size-4 shrink-0 text-muted transition-transform group-open:rotate-90" />
        <span className="shrink-0 text-sm text-muted sm:w-14 sm:text-right tabular-nums">{record.position}</span>
        <span className="min-w-0 flex-1 basis-44 truncate font-medium">{record.action}</span>
        <span className="flex min-w-0 items-center gap-3 max-sm:basis-full max-sm:pl-7">
          <span className="max-w-40 truncate text-sm text-muted max-sm:flex-1">{record.principal}</span>
          <Badge tone={TONES[record.verdict] ?? "neutral"}>{record.verdict}</Badge>
          <span className="w-24 shrink-0 text-right text-sm text-muted"><Ago time={record.time} /></span>
        </span>
      </summary>
      <div className="flex flex-col gap-2 pb-3 pl-7">
        {record.session_id && (
          <Link to="/chat/{-$session}" params={{ session: record.session_id }} className="text-sm text-accent-ink hover:underline">Open the session</Link>
        )}
        <Json label={`Record ${record.position.toString()}`} value={record} />
      </div>
    </details>
  );
}

/** The state of the chain, and its verification in this browser. */
function Chain() {
  const state = useQuery({ queryKey: ["audit-status"], queryFn: () => data(api.GET("/v1/admin/audit/status")), staleTime: Infinity });
  const [seen, setSeen] = useState(0);
  const verify = useMutation({
    mutationFn: async () => {
      setSeen(0);
      const answer = await answered(fetch(EXPORT));
      if (!answer.ok || answer.body === null) throw problemOf(answer.status, await answer.json().catch(() => null));
      return verifyExport(linesOf(answer.body), setSeen);
    },
    onError: tellProblem,
  });
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2 rounded-xl border border-line bg-surface px-4 py-3">
      <p className="min-w-0 flex-1 basis-64 text-sm" role="status">
        {verify.data ? <Proved verdict={verify.data} /> : verify.isPending ? `Verifying… ${count(seen, "record")}` : state.data ? (
          <>{count(state.data.count, "record")}; the newest signed checkpoint covers {state.data.sealed.toLocaleString("en")}.</>
        ) : "The length of the chain is not known."}
      </p>
      <Button busy={verify.isPending} onClick={() => { verify.mutate(); }}>
        {!verify.isPending && <ShieldCheck aria-hidden className="size-4" />} Verify
      </Button>
    </div>
  );
}

function Proved({ verdict }: { verdict: Verdict }) {
  if (!verdict.ok) {
    return (
      <span className="flex items-start gap-2 text-danger">
        <ShieldX aria-hidden className="mt-0.5 size-4 shrink-0" />
        {verdict.firstBad === null ? verdict.problem : `First fault at record ${verdict.firstBad.toString()}. ${verdict.problem}`}
      </span>
    );
  }
  return (
    <span className="flex items-start gap-2 text-ok">
      <ShieldCheck aria-hidden className="mt-0.5 size-4 shrink-0" />
      <span>
        {count(verdict.count, "record")} verified: none was changed, removed or reordered.{" "}
        <span className="text-muted">
          {verdict.signatures ? `Signed by key ${verdict.signedBy.join(", ")}.` : "This browser cannot check the signatures; use `suma audit verify` for these."}
        </span>
      </span>
    </span>
  );
}
