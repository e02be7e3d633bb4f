// The list of the page Settings: which settings match, below a heading for each service.
import type { Schemas } from "@/api/client";

export type Setting = Schemas["SettingShown"];
export type Row = { kind: "heading"; service: string; count: number } | { kind: "setting"; setting: Setting };

interface Wanted {
  /** Parts of a name, a variable, a description or a value; each must occur. */
  words: string;
  service: string;
  /** Leave out settings at their default. */
  changed: boolean;
}

function textOf({ name, variable, description, value, source }: Setting): string {
  return [name, variable, description, value ?? "", source].join(" ").toLowerCase();
}

export function rowsOf(settings: readonly Setting[], { words, service, changed }: Wanted): Row[] {
  const parts = words.toLowerCase().split(/\s+/).filter(Boolean);
  const found = settings.filter(
    (setting) =>
      (service === "" || setting.service === service) &&
      (!changed || setting.origin !== "default") &&
      parts.every((part) => textOf(setting).includes(part)),
  );
  return [...new Set(found.map((setting) => setting.service))].flatMap((each): Row[] => {
    const own = found.filter((setting) => setting.service === each);
    return [{ kind: "heading", service: each, count: own.length }, ...own.map((setting): Row => ({ kind: "setting", setting }))];
  });
}
