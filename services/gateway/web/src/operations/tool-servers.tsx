import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, data, type Schemas } from "@/api/client";
import { Json } from "@/components/json";
import { Loaded } from "@/components/states";
import { Ago } from "@/components/time";
import { tell, tellProblem } from "@/components/toast";
import { Badge, Button, Card, type Tone } from "@/components/ui";
import { words } from "@/lib/format";

type Server = Schemas["RemoteServer"];
type Tool = Schemas["RemoteTool"];

export const TOOL_SERVERS = ["tool-servers"];
const TONES: Record<Tool["state"], Tone> = { offered: "ok", new: "info", changed: "warn", gone: "neutral", unusable: "neutral" };

/** The servers whose tools Suma may call, and the approvals of their descriptions. */
export function ToolServerSection() {
  // Each read is recorded in the audit log and may ask the servers, so the list is not polled.
  const query = useQuery({ queryKey: TOOL_SERVERS, queryFn: () => data(api.GET("/v1/admin/tools")), staleTime: Infinity });
  return (
    <section aria-labelledby="tool-servers" className="flex flex-col gap-2">
      <h2 id="tool-servers" className="text-lg font-semibold">Tools of other servers</h2>
      <Loaded query={query} empty={({ servers }) => servers.length === 0 && <p className="rounded-xl border border-line bg-surface px-4 py-3 text-sm text-muted">No server of tools is configured.</p>}>
        {({ servers }) => <div className="flex flex-col gap-3">{servers.map((server) => <One key={server.name} server={server} />)}</div>}
      </Loaded>
    </section>
  );
}

function One({ server }: { server: Server }) {
  return (
    <Card>
      <h3 className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2.5 font-medium">
        {server.name}
        <span className="text-sm font-normal text-muted [overflow-wrap:anywhere]">{server.address}</span>
        <Badge tone={server.problem ? "danger" : "ok"}>{server.problem ? "does not answer" : "answers"}</Badge>
        {server.listed_at && <span className="text-sm font-normal text-muted">asked <Ago time={server.listed_at} /></span>}
      </h3>
      {server.problem && <p className="px-4 pb-2.5 text-sm text-danger [overflow-wrap:anywhere]">{server.problem}</p>}
      <ul>{server.tools.map((tool) => <Line key={tool.name} tool={tool} />)}</ul>
    </Card>
  );
}

function Line({ tool }: { tool: Tool }) {
  const client = useQueryClient();
  const params = { path: { tool: tool.name } };
  const decide = useMutation({
    mutationFn: async (on: boolean) => {
      if (on) await data(api.POST("/v1/admin/tools/{tool}/approve", { params, body: { digest: tool.digest } }));
      else await data(api.POST("/v1/admin/tools/{tool}/revoke", { params }));
      return on;
    },
    onSuccess: (on) => { tell(on ? `${tool.name} is offered, with exactly this description.` : `${tool.name} is not offered any more.`); },
    onError: tellProblem,
    onSettled: () => client.invalidateQueries({ queryKey: TOOL_SERVERS }),
  });
  const waits = tool.state === "new" || tool.state === "changed";
  return (
    <li className="flex flex-wrap items-start gap-x-3 gap-y-1 border-t border-line px-4 py-2.5">
      <span className="min-w-0 flex-1 basis-64">
        <span className="flex flex-wrap items-center gap-2">
          <code className="font-mono text-sm break-all">{tool.name}</code>
          <Badge tone={TONES[tool.state]}>{tool.state}</Badge>
          <Badge>{words(tool.effect_class)}</Badge>
        </span>
        {tool.reason && <span className="block text-sm text-muted">{tool.reason}</span>}
        <span className="block text-sm [overflow-wrap:anywhere]">{tool.description}</span>
        {tool.state === "changed" && <span className="block text-sm text-muted [overflow-wrap:anywhere]">Approved was: {tool.approved_description}</span>}
        <details>
          <summary className="w-fit rounded text-sm font-medium text-accent-ink">Arguments</summary>
          <Json value={tool.params} label={`Arguments of ${tool.name}`} />
        </details>
      </span>
      {waits && <Button size="small" look="primary" busy={decide.isPending} aria-label={`Approve ${tool.name}`} onClick={() => { decide.mutate(true); }}>Approve</Button>}
      {tool.approved_by && <Button size="small" busy={decide.isPending} aria-label={`Revoke ${tool.name}`} onClick={() => { decide.mutate(false); }}>Revoke</Button>}
    </li>
  );
}
