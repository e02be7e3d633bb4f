import type { ReactNode } from "react";

export const LIST = "overflow-hidden rounded-xl border border-line bg-surface";
export const ROW = "flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-4 py-2.5 last:border-b-0";

/** A part of the page Memory, with its heading. */
export function Section({ title, about, children }: { title: string; about?: string; children: ReactNode }) {
  const id = title.toLowerCase().replaceAll(" ", "-");
  return (
    <section aria-labelledby={id} className="flex flex-col gap-3">
      <div>
        <h2 id={id} className="text-lg font-semibold">{title}</h2>
        {about && <p className="text-sm text-muted">{about}</p>}
      </div>
      {children}
    </section>
  );
}
