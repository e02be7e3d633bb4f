import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ExternalLink, RefreshCw } from "lucide-react";
import { api, data } from "@/api/client";
import { Ago } from "@/components/time";
import { Button, Page } from "@/components/ui";
import { BUS, BusSection, LeaseSection, REQUEUE, WaitingSection } from "@/operations/bus";
import { HealthSection } from "@/operations/health";
import { LastHour } from "@/operations/last-hour";
import { TOOL_SERVERS, ToolServerSection } from "@/operations/tool-servers";

const METRICS = ["metrics"];

/** Operations: what runs, what is behind, what waits, and what happened in the last hour. */
export default function Operations() {
  const client = useQueryClient();
  // Each read is recorded in the audit log, so only the health is polled.
  const bus = useQuery({ queryKey: BUS, queryFn: () => data(api.GET("/v1/admin/bus")), staleTime: Infinity });
  const metrics = useQuery({ queryKey: METRICS, queryFn: () => data(api.GET("/v1/admin/metrics")), staleTime: Infinity });
  const refresh = () => { for (const queryKey of [BUS, METRICS, REQUEUE, TOOL_SERVERS, ["health"]]) void client.invalidateQueries({ queryKey }); };
  const grafana = metrics.data?.grafana_url;
  return (
    <Page
      title="Operations"
      about={<>What runs, what is behind, and what waits.{bus.data && <> Read <Ago time={bus.data.as_of} />.</>}</>}
      actions={
        <>
          {grafana && (
            <a href={grafana} target="_blank" rel="noreferrer" className="inline-flex h-8.5 items-center gap-1.5 rounded-lg border border-line bg-surface px-3 font-medium shadow-sm hover:bg-hover">
              <ExternalLink aria-hidden className="size-4" /> Grafana
            </a>
          )}
          <Button busy={bus.isRefetching || metrics.isRefetching} onClick={refresh}>
            {!bus.isRefetching && !metrics.isRefetching && <RefreshCw aria-hidden className="size-4" />} Refresh
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-6">
        <HealthSection />
        <WaitingSection />
        <LastHour query={metrics} />
        <div className="grid items-start gap-6 xl:grid-cols-2">
          <BusSection query={bus} />
          <LeaseSection query={bus} />
        </div>
        <ToolServerSection />
      </div>
    </Page>
  );
}
