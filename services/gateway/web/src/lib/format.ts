// Numbers, sizes and times as people read them.

const UNITS = ["B", "kB", "MB", "GB", "TB"];

/** `12 MB`: decimal units, at most one decimal place. */
export function bytes(count: number): string {
  const power = Math.min(Math.floor(Math.log10(Math.max(count, 1)) / 3), UNITS.length - 1);
  const value = count / 1000 ** power;
  return `${power > 0 && value < 10 ? value.toFixed(1).replace(/\.0$/, "") : Math.round(value).toString()} ${UNITS[power] ?? "B"}`;
}

/** `340 ms`, `4.2 s`, `3 min 5 s`, `2 h 10 min`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms)).toString()} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes.toString()} min ${Math.floor((ms % 60_000) / 1000).toString()} s`;
  return `${Math.floor(minutes / 60).toString()} h ${(minutes % 60).toString()} min`;
}

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "short" });

/** `5 min. ago`, `in 2 hr.`; at a distance of more than a week, the date. */
export function ago(time: string, now: number = Date.now()): string {
  const seconds = (Date.parse(time) - now) / 1000;
  const distance = Math.abs(seconds);
  // The clocks of server and browser differ a little, so a moment ahead is also now.
  if (distance < 45) return "just now";
  if (distance < 3600) return relative.format(Math.round(seconds / 60), "minute");
  if (distance < 86_400) return relative.format(Math.round(seconds / 3600), "hour");
  if (distance < 604_800) return relative.format(Math.round(seconds / 86_400), "day");
  return new Date(time).toLocaleDateString("en", { day: "numeric", month: "short", year: "numeric" });
}

/** `1 file`, `3 files`. */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}

/** `awaiting_approval` as `awaiting approval`. */
export function words(name: string): string {
  return name.replaceAll("_", " ").toLowerCase();
}

/** The last name of a path: `/home/ada/Downloads` as `Downloads`. */
export function folderOf(path: string): string {
  return path.replace(/\/+$/, "").split("/").at(-1) || path;
}
