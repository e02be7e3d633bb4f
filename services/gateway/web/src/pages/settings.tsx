import { useQuery } from "@tanstack/react-query";
import { Search } from "lucide-react";
import { useMemo, useState } from "react";
import { api, data } from "@/api/client";
import { Empty, Failed, Loading, useShownError } from "@/components/states";
import { Badge, PageHead, SelectField, TextField, type Tone } from "@/components/ui";
import { VirtualList } from "@/components/virtual-list";
import { cx } from "@/lib/cx";
import { count, words } from "@/lib/format";
import { type Row, rowsOf, type Setting } from "@/lib/settings";

const ORIGINS: Record<Setting["origin"], { text: string; tone: Tone }> = {
  default: { text: "default", tone: "neutral" },
  environment: { text: "environment", tone: "accent" },
  file: { text: "file", tone: "info" },
  secret_file: { text: "secret file", tone: "info" },
};
const NONE = ["", "[]", "{}"];
const FILTERS = [
  { changed: false, text: "All" },
  { changed: true, text: "Changed" },
] as const;

/** Settings: every value in force, and where it comes from. */
export default function Settings() {
  const [text, setText] = useState("");
  const [service, setService] = useState("");
  const [changed, setChanged] = useState(false);
  const query = useQuery({ queryKey: ["settings"], queryFn: () => data(api.GET("/v1/admin/settings")), staleTime: Infinity });
  const error = useShownError(query);
  const settings = query.data?.settings;
  const rows = useMemo(() => rowsOf(settings ?? [], { words: text, service, changed }), [settings, text, service, changed]);
  const services = [...new Set(settings?.map((each) => each.service))];
  return (
    <div className="flex h-full flex-col">
      <PageHead title="Settings" about="Every value in force in this process, and its source. Change one in the environment or the settings file, and restart." />
      <search className="flex flex-wrap items-end gap-2 px-4 pb-3 md:px-6">
        <div className="relative min-w-0 flex-1 basis-56">
          <Search aria-hidden className="pointer-events-none absolute top-2.5 left-2.5 size-4 text-muted" />
          <TextField quiet label="Search settings" type="search" placeholder="Name, meaning, value or source" value={text} onChange={(event) => { setText(event.target.value); }} className="[&_input]:pl-8.5" />
        </div>
        <SelectField quiet label="Service" className="min-w-0 flex-1 basis-36 sm:flex-none" value={service} onChange={(event) => { setService(event.target.value); }}>
          <option value="">All services</option>
          {services.map((each) => <option key={each} value={each}>{words(each)}</option>)}
        </SelectField>
        <div role="group" aria-label="Filter" className="flex gap-0.5 rounded-lg border border-line bg-sunken p-px">
          {FILTERS.map((filter) => (
            <button key={filter.text} type="button" aria-pressed={changed === filter.changed} onClick={() => { setChanged(filter.changed); }} className={cx("h-8 rounded-md px-3 font-medium", changed === filter.changed ? "bg-surface text-ink shadow-sm dark:bg-hover" : "text-muted")}>
              {filter.text}
            </button>
          ))}
        </div>
      </search>
      <div className="min-h-0 flex-1 px-2 md:px-4">
        {settings === undefined ? (
          error ? <Failed error={error} retry={() => void query.refetch()} /> : <Loading rows={8} />
        ) : rows.length === 0 ? (
          <Empty icon={Search} title="No setting matches">{changed ? "Try fewer words, or the filter “All”." : "Try fewer words, or all services."}</Empty>
        ) : (
          <VirtualList items={rows} keyOf={(row) => row.kind === "heading" ? row.service : row.setting.name} height={64} label="Settings">
            {(row) => <Shown row={row} />}
          </VirtualList>
        )}
      </div>
    </div>
  );
}

function Shown({ row }: { row: Row }) {
  if (row.kind === "heading") {
    return (
      <h2 className="flex items-baseline gap-2 px-2 pt-5 pb-1 text-lg font-semibold">
        <span className="inline-block first-letter:uppercase">{words(row.service)}</span> <span className="text-sm font-normal text-muted">{count(row.count, "setting")}</span>
      </h2>
    );
  }
  const { setting } = row;
  const { text, tone } = ORIGINS[setting.origin];
  return (
    <div className="flex flex-wrap items-start gap-x-4 gap-y-1 border-b border-line px-2 py-2.5">
      <div className="min-w-0 flex-1 basis-72">
        <p className="font-mono text-sm font-medium [overflow-wrap:anywhere]">{setting.variable}</p>
        <p className="text-sm text-muted"><Described text={setting.description} /></p>
      </div>
      <div className="flex min-w-0 basis-72 flex-wrap items-center gap-x-2 gap-y-1 sm:justify-end">
        <Value setting={setting} />
        <Badge tone={tone}>{text}</Badge>
        {setting.origin !== "default" && setting.source !== setting.variable && <span className="w-full text-xs text-muted [overflow-wrap:anywhere] sm:text-right">{setting.source}</span>}
      </div>
    </div>
  );
}

/** A sentence whose names of values stand between backticks. */
function Described({ text }: { text: string }) {
  return text.split("`").map((part, at) => (at % 2 === 0 ? part : <code key={at} className="font-mono text-xs">{part}</code>));
}

function Value({ setting }: { setting: Setting }) {
  if (setting.secret) return <Badge tone={setting.set ? "ok" : "neutral"}>{setting.set ? "set" : "not set"}</Badge>;
  if (setting.value === null || NONE.includes(setting.value)) return <span className="text-sm text-muted">none</span>;
  return <code className="min-w-0 rounded bg-sunken px-1.5 py-0.5 text-sm [overflow-wrap:anywhere]">{setting.value}</code>;
}
