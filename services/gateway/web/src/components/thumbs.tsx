import { useQuery } from "@tanstack/react-query";
import { ThumbsDown, ThumbsUp } from "lucide-react";
import { useState } from "react";
import { type GivenRating, useRate } from "@/api/commands";
import { ratingsQuery, useMay } from "@/api/queries";
import { cx } from "@/lib/cx";
import { Button, IconButton, TextField } from "./ui";

const THUMBS = [
  { score: 1, word: "Good", icon: ThumbsUp },
  { score: -1, word: "Bad", icon: ThumbsDown },
] as const;

/** Rate an answer, by its turn, or a memory; then say why, if there is more to say. */
export function Thumbs({ subject, of }: Pick<GivenRating, "subject" | "of">) {
  const may = useMay("memory");
  const score = useQuery({ ...ratingsQuery, enabled: may, select: ({ ratings }) => ratings.find((one) => one.subject === subject)?.score }).data ?? 0;
  const [why, setWhy] = useState<string | null>(null);
  const rate = useRate();
  if (!may) return null;
  const press = (pressed: number) => {
    const next = Math.sign(score) === pressed ? 0 : pressed;
    rate.mutate({ subject, of, score: next });
    setWhy(next === 0 ? null : "");
  };
  return (
    <span className="flex flex-wrap items-center gap-1">
      {THUMBS.map(({ score: pressed, word, icon: Icon }) => (
        <IconButton key={word} label={`${word} ${of}`} aria-pressed={Math.sign(score) === pressed} disabled={rate.isPending} onClick={() => { press(pressed); }}>
          <Icon aria-hidden className={cx("size-4", Math.sign(score) === pressed && "fill-current text-accent-ink")} />
        </IconButton>
      ))}
      {why !== null && score !== 0 && (
        <form className="flex items-center gap-1" onSubmit={(event) => { event.preventDefault(); rate.mutate({ subject, of, score, comment: why.trim() }); setWhy(null); }}>
          <TextField quiet label="Why?" placeholder="Why? (optional)" maxLength={2000} value={why} onChange={(event) => { setWhy(event.target.value); }} />
          <Button size="small" type="submit" disabled={why.trim() === ""}>Send</Button>
        </form>
      )}
    </span>
  );
}
