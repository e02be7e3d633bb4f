import { useEffect, useState } from "react";
import { ago, duration } from "@/lib/format";

/** The present, renewed at an interval. */
export function useNow(ms: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => { setNow(Date.now()); }, ms);
    return () => { clearInterval(timer); };
  }, [ms]);
  return now;
}

/** A moment, as its distance from now; the exact time is its title. */
export function Ago({ time }: { time: string }) {
  const now = useNow(30_000);
  return (
    <time dateTime={time} title={new Date(time).toLocaleString("en")}>
      {ago(time, now)}
    </time>
  );
}

/** A stopwatch of something that still runs. */
export function Elapsed({ since }: { since: string }) {
  const now = useNow(1000);
  return <span className="tabular-nums">{duration(Math.max(0, now - Date.parse(since)))}</span>;
}
