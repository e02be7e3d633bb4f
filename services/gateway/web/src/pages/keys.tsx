import { infiniteQueryOptions, useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Building2, Copy, KeyRound, Plus, Users } from "lucide-react";
import { useState } from "react";
import { api, data, type Schemas } from "@/api/client";
import { meQuery, useMay } from "@/api/queries";
import { Dialog } from "@/components/dialog";
import { More } from "@/components/more";
import { Empty, Loaded } from "@/components/states";
import { Ago } from "@/components/time";
import { tell, tellProblem } from "@/components/toast";
import { Badge, Button, Card, Page, SelectField, TextArea, TextField, type Tone } from "@/components/ui";
import { copy } from "@/lib/clipboard";
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

const PAGE = 200;

const keysQuery = (ended: boolean) =>
  infiniteQueryOptions({
    queryKey: ["keys", ended],
    queryFn: ({ pageParam }) => data(api.GET("/v1/admin/keys", { params: { query: { ended, limit: PAGE, before: pageParam } } })),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
  });

const principalsQuery = infiniteQueryOptions({
  queryKey: ["principals"],
  queryFn: ({ pageParam }) => data(api.GET("/v1/admin/principals", { params: { query: { limit: PAGE, after: pageParam } } })),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page) => page.next ?? undefined,
});

const tenantsQuery = infiniteQueryOptions({
  queryKey: ["tenants"],
  queryFn: ({ pageParam }) => data(api.GET("/v1/admin/tenants", { params: { query: { limit: PAGE, after: pageParam } } })),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page) => page.next ?? undefined,
});

/** Keys and tenants: who and what may sign in, with which rights. */
export default function Keys() {
  const [ended, setEnded] = useState(false);
  const [adding, setAdding] = useState(false);
  const [created, setCreated] = useState<Created | null>(null);
  const query = useInfiniteQuery(keysQuery(ended));
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
      <Loaded query={query} empty={({ pages }) => pages[0]?.keys.length === 0 && <Empty icon={KeyRound} title="No keys" />}>
        {({ pages }) => (
          <Card aria-label="Keys">
            <ul>{pages.flatMap(({ keys }) => keys).map((key) => <Row key={key.key_id} shown={key} onCreated={setCreated} />)}</ul>
          </Card>
        )}
      </Loaded>
      <More query={query} of="keys" />
      <Principals />
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
        {shown.signs && <Badge tone="info">signs each request</Badge>}
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
  const [role, setRole] = useState<Schemas["Role"] | "">("user");
  const [scopes, setScopes] = useState<readonly string[]>([]);
  const [signing, setSigning] = useState("");
  const [days, setDays] = useState<string>("90");
  const signingKey = jwkOf(signing);
  const create = useMutation({
    mutationFn: () => {
      const expires = days === "" ? null : new Date(Date.now() + Number(days) * DAY).toISOString();
      const roles = role === "" ? [] : [role];
      const body = { name: name.trim(), principal: principal.trim(), roles, scopes: [...scopes], signing_key: signingKey ?? null, expires_at: expires };
      return data(api.POST("/v1/admin/keys", { body }));
    },
    onSuccess: onCreated,
    onError: tellProblem,
    onSettled: () => Promise.all([client.invalidateQueries({ queryKey: ["keys"] }), client.invalidateQueries({ queryKey: ["principals"] })]),
  });
  const rightless = role === "" && scopes.length === 0;
  return (
    <Dialog open onClose={onClose} title="New key" about="A key belongs to a person or a program, and grants at most what you may do yourself.">
      <form className="flex flex-col gap-3 pt-2" onSubmit={(event) => { event.preventDefault(); create.mutate(); }}>
        <TextField label="Name" placeholder="nightly cleanup" required value={name} onChange={(event) => { setName(event.target.value); }} />
        <TextField label="Principal" hint="The person or program. A new name creates it." required value={principal} onChange={(event) => { setPrincipal(event.target.value); }} />
        <SelectField label="Role" value={role} onChange={(event) => { setRole(event.target.value as Schemas["Role"] | ""); }}>
          {Object.entries(ROLES).map(([each, about]) => <option key={each} value={each}>{each}: {about}</option>)}
          <option value="">none: only the scopes below</option>
        </SelectField>
        <SelectField label="Expires" value={days} onChange={(event) => { setDays(event.target.value); }}>
          {DAYS.map(([value, text]) => <option key={value} value={value}>{text}</option>)}
        </SelectField>
        <details open={role === "" || undefined}>
          <summary className="w-fit rounded text-sm font-medium text-accent-ink">Scopes and signature</summary>
          <div className="flex flex-col gap-3 pt-2">
            <Scopes chosen={scopes} onChange={setScopes} />
            <TextArea
              label="Public signing key (optional)"
              hint="A JWK. Each request with this key must then be signed by it."
              error={signingKey === undefined ? "This is not a JWK: an object with the member kty." : null}
              rows={3}
              spellCheck={false}
              value={signing}
              onChange={(event) => { setSigning(event.target.value); }}
            />
          </div>
        </details>
        <div className="flex justify-end gap-2 pt-1">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" busy={create.isPending} disabled={create.isPending || rightless || signingKey === undefined}>Create</Button>
        </div>
      </form>
    </Dialog>
  );
}

/** The key in a field: null if it is empty, undefined if it is none. The server checks its kind and length. */
function jwkOf(text: string): Record<string, unknown> | null | undefined {
  if (text.trim() === "") return null;
  try {
    const found = JSON.parse(text) as unknown;
    return typeof found === "object" && found !== null && "kty" in found ? (found as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** Rights beside those of the role: those that the person may pass on. */
function Scopes({ chosen, onChange }: { chosen: readonly string[]; onChange: (scopes: readonly string[]) => void }) {
  return (
    <fieldset className="flex min-w-0 flex-col gap-1">
      <legend className="pb-1 text-sm font-medium">Scopes beside those of the role</legend>
      <Loaded query={useQuery(meQuery)}>
        {({ grantable }) => (
          <div className="grid max-h-44 gap-x-4 overflow-y-auto sm:grid-cols-2">
            {grantable.map((scope) => (
              <label key={scope} className="flex items-center gap-2 py-0.5 text-sm">
                <input
                  type="checkbox"
                  className="size-4"
                  checked={chosen.includes(scope)}
                  onChange={(event) => { onChange(event.target.checked ? [...chosen, scope] : chosen.filter((each) => each !== scope)); }}
                />
                <code className="font-mono text-xs">{scope}</code>
              </label>
            ))}
          </div>
        )}
      </Loaded>
    </fieldset>
  );
}

/** A new key, which is shown this once. */
function Shown({ created, onClose }: { created: Created; onClose: () => void }) {
  const press = () => copy(created.key).then(() => { tell("Copied."); }, tellProblem);
  return (
    <Dialog open onClose={onClose} title={`The key ${created.name}`} about="Copy it now: it is not stored, and cannot be shown again.">
      <div className="flex items-center gap-2 pt-3">
        <code className="min-w-0 flex-1 rounded-lg border border-line bg-sunken px-3 py-2 text-sm [overflow-wrap:anywhere]">{created.key}</code>
        <Button onClick={() => void press()}><Copy aria-hidden className="size-4" /> Copy</Button>
      </div>
    </Dialog>
  );
}

/** The people and programs of the tenant; a disabled one is refused with every key and browser. */
function Principals() {
  const client = useQueryClient();
  const me = useQuery(meQuery).data;
  const query = useInfiniteQuery(principalsQuery);
  const toggle = useMutation({
    mutationFn: ({ id, off }: { id: string; off: boolean }) => {
      const params = { path: { principal: id } };
      return off ? data(api.POST("/v1/admin/principals/{principal}/disable", { params })) : data(api.POST("/v1/admin/principals/{principal}/enable", { params }));
    },
    onError: tellProblem,
    onSettled: () => client.invalidateQueries({ queryKey: ["principals"] }),
  });
  return (
    <section aria-label="Principals" className="pt-7">
      <h2 className="pb-2 text-lg font-semibold">Principals</h2>
      <Loaded query={query} empty={({ pages }) => pages[0]?.principals.length === 0 && <Empty icon={Users} title="No principals" />}>
        {({ pages }) => (
          <Card>
            <ul>
              {pages.flatMap(({ principals }) => principals).map((each) => (
                <li key={each.principal} className="flex flex-wrap items-center gap-3 border-b border-line px-4 py-2.5 last:border-b-0">
                  <span className="min-w-0 flex-1 truncate font-medium">{each.principal}</span>
                  <span className="text-sm text-muted">{count(each.keys, "valid key")}</span>
                  <Badge tone={each.disabled_at ? "danger" : "ok"}>{each.disabled_at ? "disabled" : "active"}</Badge>
                  {each.principal !== me?.principal && <Toggle name={each.principal} stops="Its keys and sign-ins stop working at once. Nothing is deleted." off={each.disabled_at !== null} onToggle={(off) => { toggle.mutate({ id: each.principal, off }); }} />}
                </li>
              ))}
            </ul>
          </Card>
        )}
      </Loaded>
      <More query={query} of="principals" />
    </section>
  );
}

interface ToggleProps {
  name: string;
  off: boolean;
  /** What stops when it is disabled. */
  stops: string;
  onToggle: (off: boolean) => void;
}

/** Enable at once; disable after a question that names what stops. */
function Toggle({ name, off, stops, onToggle }: ToggleProps) {
  const [asking, setAsking] = useState(false);
  const disable = () => {
    setAsking(false);
    onToggle(true);
  };
  if (off) return <Button size="small" aria-label={`Enable ${name}`} onClick={() => { onToggle(false); }}>Enable</Button>;
  return (
    <>
      <Button size="small" look="danger" aria-label={`Disable ${name}`} onClick={() => { setAsking(true); }}>Disable</Button>
      <Dialog open={asking} onClose={() => { setAsking(false); }} title={`Disable ${name}?`}>
        <p>{stops}</p>
        <div className="flex justify-end gap-2 pt-4">
          <Button onClick={() => { setAsking(false); }}>Cancel</Button>
          <Button look="danger" onClick={disable}>Disable</Button>
        </div>
      </Dialog>
    </>
  );
}

function Tenants() {
  const client = useQueryClient();
  const me = useQuery(meQuery).data;
  const query = useInfiniteQuery(tenantsQuery);
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
      <Loaded query={query} empty={({ pages }) => pages[0]?.tenants.length === 0 && <Empty icon={Building2} title="No tenants" />}>
        {({ pages }) => (
          <Card>
            <ul>
              {pages.flatMap(({ tenants }) => tenants).map((each) => (
                <li key={each.tenant} className="flex flex-wrap items-center gap-3 border-b border-line px-4 py-2.5 last:border-b-0">
                  <span className="min-w-0 flex-1 truncate font-medium">{each.tenant} <span className="font-normal text-muted">{each.name}</span></span>
                  <span className="text-sm text-muted">since <Ago time={each.created_at} /></span>
                  <Badge tone={each.disabled_at ? "danger" : "ok"}>{each.disabled_at ? "disabled" : "active"}</Badge>
                  {each.tenant !== me?.tenant && <Toggle name={each.tenant} stops="All of its people and keys are locked out at once. Nothing is deleted." off={each.disabled_at !== null} onToggle={(off) => { toggle.mutate({ id: each.tenant, off }); }} />}
                </li>
              ))}
            </ul>
          </Card>
        )}
      </Loaded>
      <More query={query} of="tenants" />
      <form className="flex flex-wrap items-end gap-2 pt-3" onSubmit={(event) => { event.preventDefault(); create.mutate(); }}>
        <TextField label="New tenant" placeholder="acme" required pattern="[A-Za-z0-9][A-Za-z0-9._\-]{0,63}" value={tenant} onChange={(event) => { setTenant(event.target.value); }} className="min-w-0 flex-1 basis-40" />
        <TextField label="Its name" placeholder="Acme Ltd" value={name} onChange={(event) => { setName(event.target.value); }} className="min-w-0 flex-1 basis-40" />
        <Button type="submit" busy={create.isPending}>Add</Button>
      </form>
    </section>
  );
}
