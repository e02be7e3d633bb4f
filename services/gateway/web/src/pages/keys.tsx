import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Building2, Copy, KeyRound, Plus } from "lucide-react";
import { useState } from "react";
import { api, data, type Schemas } from "@/api/client";
import { meQuery, useMay } from "@/api/queries";
import { Dialog } from "@/components/dialog";
import { Empty, Loaded } from "@/components/states";
import { Ago } from "@/components/time";
import { tell, tellProblem } from "@/components/toast";
import { Badge, Button, Card, Page, SelectField, TextField, type Tone } from "@/components/ui";
import { count } from "@/lib/format";

type Key = Schemas["KeyShown"];
type Created = Schemas["KeyCreated"];

const ROLES: Record<Schemas["Role"], string> = {
  user: "works in their own sessions",
  operator: "sees and acts in every session, and operates the platform",
  auditor: "reads every session and the audit log",
  admin: "may do everything in this tenant",
};
const TONES: Record<string, Tone> = { valid: "ok", expired: "warn", revoked: "neutral" };
const DAYS = [["7", "In a week"], ["90", "In three months"], ["365", "In a year"], ["", "Never"]] as const;
const DAY = 86_400_000;

/** Keys and tenants: who and what may sign in, with which rights. */
export default function Keys() {
  const [ended, setEnded] = useState(false);
  const [adding, setAdding] = useState(false);
  const [created, setCreated] = useState<Created | null>(null);
  const query = useQuery({ queryKey: ["keys", ended], queryFn: () => data(api.GET("/v1/admin/keys", { params: { query: { ended, limit: 500 } } })) });
  const tenants = useMay("admin.tenants");
  return (
    <Page
      title="Keys and tenants"
      about="Who and what may sign in, with which rights. A revoked key stops working at once."
      actions={<Button look="primary" onClick={() => { setAdding(true); }}><Plus aria-hidden className="size-4" /> New key</Button>}
    >
      <label className="mb-3 flex w-fit items-center gap-2 text-sm">
        <input type="checkbox" className="size-4" checked={ended} onChange={(event) => { setEnded(event.target.checked); }} /> Show revoked and expired keys
      </label>
      <Loaded query={query} empty={({ keys }) => keys.length === 0 && <Empty icon={KeyRound} title="No keys" />}>
        {({ keys }) => <Card aria-label="Keys"><ul>{keys.map((key) => <Row key={key.key_id} shown={key} onCreated={setCreated} />)}</ul></Card>}
      </Loaded>
      {tenants && <Tenants />}
      {adding && <NewKey onClose={() => { setAdding(false); }} onCreated={(made) => { setAdding(false); setCreated(made); }} />}
      {created && <Shown created={created} onClose={() => { setCreated(null); }} />}
    </Page>
  );
}

function Row({ shown, onCreated }: { shown: Key; onCreated: (created: Created) => void }) {
  const client = useQueryClient();
  const [sure, setSure] = useState(false);
  const path = { key_id: shown.key_id };
  const done = () => client.invalidateQueries({ queryKey: ["keys"] });
  const rotate = useMutation({
    mutationFn: () => data(api.POST("/v1/admin/keys/{key_id}/rotate", { params: { path }, body: null })),
    onSuccess: onCreated,
    onError: tellProblem,
    onSettled: done,
  });
  const revoke = useMutation({
    mutationFn: () => data(api.POST("/v1/admin/keys/{key_id}/revoke", { params: { path } })),
    onSuccess: () => { tell(`The key ${shown.name} is revoked.`); },
    onError: tellProblem,
    onSettled: done,
  });
  // The key of the machine's owner is a file: it cannot be changed from here.
  const own = shown.origin !== "file" && shown.state === "valid";
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b border-line px-4 py-3 last:border-b-0">
      <div className="min-w-0 flex-1 basis-60">
        <p className="font-medium [overflow-wrap:anywhere]">{shown.name || "Unnamed key"} <span className="font-normal text-muted">of {shown.principal}</span></p>
        <p className="text-sm text-muted">
          {shown.used_at ? <>last used <Ago time={shown.used_at} /></> : "never used"}
          {shown.expires_at && <>, expires <Ago time={shown.expires_at} /></>}
          {shown.browsers > 0 && `, signed in ${count(shown.browsers, "browser")}`}
        </p>
      </div>
      <span className="flex flex-wrap gap-1">
        {[...shown.roles, ...shown.scopes].map((right) => <Badge key={right}>{right}</Badge>)}
        <Badge tone={TONES[shown.state] ?? "neutral"}>{shown.state}</Badge>
      </span>
      {own && (
        <span className="flex gap-1">
          <Button size="small" busy={rotate.isPending} aria-label={`Rotate ${shown.name}`} onClick={() => { rotate.mutate(); }}>Rotate</Button>
          <Button size="small" look="danger" aria-label={`Revoke ${shown.name}`} onClick={() => { setSure(true); }}>Revoke</Button>
        </span>
      )}
      <Dialog open={sure} onClose={() => { setSure(false); }} title="Revoke this key?" about={`Programs that use ${shown.name} are refused at once, and browsers that it signed in are signed out.`}>
        <div className="flex justify-end gap-2 pt-3">
          <Button onClick={() => { setSure(false); }}>Cancel</Button>
          <Button look="danger" busy={revoke.isPending} onClick={() => { revoke.mutate(undefined, { onSettled: () => { setSure(false); } }); }}>Revoke</Button>
        </div>
      </Dialog>
    </li>
  );
}

function NewKey({ onClose, onCreated }: { onClose: () => void; onCreated: (created: Created) => void }) {
  const client = useQueryClient();
  const me = useQuery(meQuery).data;
  const [name, setName] = useState("");
  const [principal, setPrincipal] = useState(me?.principal ?? "");
  const [role, setRole] = useState<Schemas["Role"]>("user");
  const [days, setDays] = useState<string>("90");
  const create = useMutation({
    mutationFn: () => {
      const expires = days === "" ? null : new Date(Date.now() + Number(days) * DAY).toISOString();
      return data(api.POST("/v1/admin/keys", { body: { name: name.trim(), principal: principal.trim(), roles: [role], scopes: [], expires_at: expires } }));
    },
    onSuccess: onCreated,
    onError: tellProblem,
    onSettled: () => client.invalidateQueries({ queryKey: ["keys"] }),
  });
  return (
    <Dialog open onClose={onClose} title="New key" about="A key belongs to a person or a program, and grants at most what you may do yourself.">
      <form className="flex flex-col gap-3 pt-2" onSubmit={(event) => { event.preventDefault(); create.mutate(); }}>
        <TextField label="Name" placeholder="nightly cleanup" required value={name} onChange={(event) => { setName(event.target.value); }} />
        <TextField label="Principal" hint="The person or program. A new name creates it." required value={principal} onChange={(event) => { setPrincipal(event.target.value); }} />
        <SelectField label="Role" value={role} onChange={(event) => { setRole(event.target.value as Schemas["Role"]); }}>
          {Object.entries(ROLES).map(([each, about]) => <option key={each} value={each}>{each}: {about}</option>)}
        </SelectField>
        <SelectField label="Expires" value={days} onChange={(event) => { setDays(event.target.value); }}>
          {DAYS.map(([value, text]) => <option key={value} value={value}>{text}</option>)}
        </SelectField>
        <div className="flex justify-end gap-2 pt-1">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" busy={create.isPending}>Create</Button>
        </div>
      </form>
    </Dialog>
  );
}

/** A new key, which is shown this once. */
function Shown({ created, onClose }: { created: Created; onClose: () => void }) {
  const copy = () => navigator.clipboard.writeText(created.key).then(() => { tell("Copied."); }, tellProblem);
  return (
    <Dialog open onClose={onClose} title={`The key ${created.name}`} about="Copy it now: it is not stored, and cannot be shown again.">
      <div className="flex items-center gap-2 pt-3">
        <code className="min-w-0 flex-1 rounded-lg border border-line bg-sunken px-3 py-2 text-sm [overflow-wrap:anywhere]">{created.key}</code>
        <Button onClick={() => void copy()}><Copy aria-hidden className="size-4" /> Copy</Button>
      </div>
    </Dialog>
  );
}

function Tenants() {
  const client = useQueryClient();
  const query = useQuery({ queryKey: ["tenants"], queryFn: () => data(api.GET("/v1/admin/tenants", { params: { query: { limit: 500 } } })) });
  const [tenant, setTenant] = useState("");
  const [name, setName] = useState("");
  const changed = () => client.invalidateQueries({ queryKey: ["tenants"] });
  const create = useMutation({
    mutationFn: () => data(api.POST("/v1/admin/tenants", { body: { tenant: tenant.trim(), name: name.trim() } })),
    onSuccess: () => {
      setTenant("");
      setName("");
    },
    onError: tellProblem,
    onSettled: changed,
  });
  const toggle = useMutation({
    mutationFn: ({ id, off }: { id: string; off: boolean }) => {
      const params = { path: { tenant: id } };
      return off ? data(api.POST("/v1/admin/tenants/{tenant}/disable", { params })) : data(api.POST("/v1/admin/tenants/{tenant}/enable", { params }));
    },
    onError: tellProblem,
    onSettled: changed,
  });
  return (
    <section aria-label="Tenants" className="pt-7">
      <h2 className="pb-2 text-lg font-semibold">Tenants</h2>
      <Loaded query={query} empty={({ tenants }) => tenants.length === 0 && <Empty icon={Building2} title="No tenants" />}>
        {({ tenants }) => (
          <Card>
            <ul>
              {tenants.map((each) => (
                <li key={each.tenant} className="flex flex-wrap items-center gap-3 border-b border-line px-4 py-2.5 last:border-b-0">
                  <span className="min-w-0 flex-1 truncate font-medium">{each.tenant} <span className="font-normal text-muted">{each.name}</span></span>
                  <span className="text-sm text-muted">since <Ago time={each.created_at} /></span>
                  <Badge tone={each.disabled_at ? "danger" : "ok"}>{each.disabled_at ? "disabled" : "active"}</Badge>
                  <Button size="small" look={each.disabled_at ? "secondary" : "danger"} aria-label={`${each.disabled_at ? "Enable" : "Disable"} ${each.tenant}`} onClick={() => { toggle.mutate({ id: each.tenant, off: !each.disabled_at }); }}>
                    {each.disabled_at ? "Enable" : "Disable"}
                  </Button>
                </li>
              ))}
            </ul>
          </Card>
        )}
      </Loaded>
      <form className="flex flex-wrap items-end gap-2 pt-3" onSubmit={(event) => { event.preventDefault(); create.mutate(); }}>
        <TextField label="New tenant" placeholder="acme" required pattern="[A-Za-z0-9][A-Za-z0-9._\-]{0,63}" value={tenant} onChange={(event) => { setTenant(event.target.value); }} className="min-w-0 flex-1 basis-40" />
        <TextField label="Its name" placeholder="Acme Ltd" value={name} onChange={(event) => { setName(event.target.value); }} className="min-w-0 flex-1 basis-40" />
        <Button type="submit" busy={create.isPending}>Add</Button>
      </form>
    </section>
  );
}
