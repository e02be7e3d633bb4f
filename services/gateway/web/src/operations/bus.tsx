import { useMutation, useQuery, useQueryClient, type UseQueryResult } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { api, data, newKey, type Schemas } from "@/api/client";
import { useMay } from "@/api/queries";
import { Loaded } from "@/components/states";
import { Ago } from "@/components/time";
import { tell, tellProblem } from "@/components/toast";
import { Badge, Button, Card } from "@/components/ui";
import { cx } from "@/lib/cx";
import { count, words } from "@/lib/format";

type Bus = Schemas["BusState"];
type Waiting = Schemas["Requeued"];

export const BUS = ["bus"];
export const REQUEUE = ["requeue"];

/** The consumer groups: how far behind each is, and what waits or is dead. */
export function BusSection({ query }: { query: UseQueryResult<Bus> }) {
  return (
    <section aria-labelledby="bus" className="flex flex-col gap-2">
      <h2 id="bus" className="text-lg font-semibold">Consumers</h2>
      <Loaded query={query} empty={({ groups }) => groups.length === 0 && <Nothing>No consumer group has read anything yet.</Nothing>}>
        {({ groups }) => (
          <Table label="Consumers" heads={["Group", "Lag", "Parked", "Dead"]}>
            {groups.map((each) => (
              <tr key={`${each.group} ${each.topic}`} className="border-t border-line">
                <Name name={each.group} about={each.topic} />
                <Cell value={each.lag} alarm={(each.lag ?? 0) > 1000} />
                <Cell value={each.parked} alarm={each.parked > 0}>{each.parked_since && <span className="block text-xs text-muted"><Ago time={each.parked_since} /></span>}</Cell>
                <Cell value={each.dead} alarm={each.dead > 0} />
              </tr>
            ))}
          </Table>
        )}
      </Loaded>
      <p className="text-sm text-muted">
        Lag is over all tenants; parked and dead events are your tenant’s. <Link to="/dead-letters" className="text-accent-ink hover:underline">Dead letters</Link>
      </p>
    </section>
  );
}

/** The leases: work that is under way, or waits for a process or a moment. */
export function LeaseSection({ query }: { query: UseQueryResult<Bus> }) {
  return (
    <section aria-labelledby="leases" className="flex flex-col gap-2">
      <h2 id="leases" className="text-lg font-semibold">Leases</h2>
      <Loaded query={query} empty={({ leases }) => leases.length === 0 && <Nothing>No work is under way.</Nothing>}>
        {({ leases }) => (
          <Table label="Leases" heads={["Kind", "Number", "Held", "Due", "Oldest"]}>
            {leases.map((each) => (
              <tr key={`${each.group} ${each.kind}`} className="border-t border-line">
                <Name name={words(each.kind)} about={words(each.group)} />
                <Cell value={each.leases} />
                <Cell value={each.held} />
                <Cell value={each.due} alarm={each.due > 0} />
                <td className="px-2 py-2 first:pl-3 last:pr-3 sm:px-3 text-right text-sm text-muted"><Ago time={each.since} /></td>
              </tr>
            ))}
          </Table>
        )}
      </Loaded>
      <p className="text-sm text-muted">Your tenant’s. Held by a process, due and waiting for one, or, like a deadline, due later.</p>
    </section>
  );
}

/** The events that wait because policy did not answer. */
export function WaitingSection() {
  // Each read is recorded in the audit log, so the list is not polled.
  const query = useQuery({ queryKey: REQUEUE, queryFn: () => data(api.GET("/v1/admin/requeue", { params: { query: { limit: 500 } } })), staleTime: Infinity });
  return (
    <section aria-labelledby="waiting" className="flex flex-col gap-2">
      <h2 id="waiting" className="text-lg font-semibold">Waiting for policy</h2>
      <Loaded query={query} empty={({ waiting }) => waiting.length === 0 && <Nothing>Policy has answered every question.</Nothing>}>
        {({ waiting }) => <Card><ul>{waiting.map((event) => <Event key={`${event.group} ${event.id}`} event={event} />)}</ul></Card>}
      </Loaded>
    </section>
  );
}

function Event({ event }: { event: Waiting }) {
  const client = useQueryClient();
  const own = useMay("admin.requeue.write");
  const all = useMay("admin");
  const retry = useMutation({
    mutationFn: () => data(api.POST("/v1/admin/requeue/{event_id}/retry", { params: { path: { event_id: event.id }, header: { "Idempotency-Key": newKey() } } })),
    onSuccess: () => { tell("Policy is asked again now."); },
    onError: tellProblem,
    onSettled: () => client.invalidateQueries({ queryKey: REQUEUE }),
  });
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-4 py-2.5 last:border-b-0">
      <span className="min-w-0 flex-1 basis-56">
        <span className="block truncate font-medium">{event.event_type}</span>
        <span className="block text-sm text-muted [overflow-wrap:anywhere]">{words(event.group)}: {event.error}</span>
      </span>
      {event.session_id && <Link to="/chat/{-$session}" params={{ session: event.session_id }} className="text-sm text-accent-ink hover:underline">Open the session</Link>}
      <Badge tone="warn">{count(event.attempts, "attempt")}</Badge>
      <span className="text-sm text-muted">since <Ago time={event.since} /></span>
      {(own || all) && <Button size="small" busy={retry.isPending} onClick={() => { retry.mutate(); }}>Retry now</Button>}
    </li>
  );
}

function Table({ label, heads, children }: { label: string; heads: string[]; children: ReactNode }) {
  return (
    <Card className="overflow-x-auto">
      <table aria-label={label} className="w-full text-left">
        <thead className="text-sm text-muted">
          <tr>{heads.map((head, index) => <th key={head} scope="col" className={cx("px-2 py-2 first:pl-3 last:pr-3 sm:px-3 font-medium", index > 0 && "text-right")}>{head}</th>)}</tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </Card>
  );
}

function Name({ name, about }: { name: string; about: string }) {
  return (
    <th scope="row" className="px-2 py-2 first:pl-3 last:pr-3 sm:px-3 font-normal">
      <span className="block font-medium">{words(name)}</span>
      <span className="block text-sm text-muted">{about}</span>
    </th>
  );
}

function Cell({ value, alarm = false, children }: { value: number | null; alarm?: boolean; children?: ReactNode }) {
  return (
    <td className={cx("px-2 py-2 first:pl-3 last:pr-3 sm:px-3 text-right tabular-nums", alarm ? "font-semibold text-danger" : value ? "" : "text-muted")}>
      {value === null ? "–" : value.toLocaleString("en")}
      {children}
    </td>
  );
}

function Nothing({ children }: { children: ReactNode }) {
  return <p className="rounded-xl border border-line bg-surface px-4 py-3 text-sm text-muted">{children}</p>;
}
