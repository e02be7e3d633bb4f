import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useRef } from "react";
import type { More } from "@/lib/use-more";
import { Button } from "./ui";

interface VirtualListProps<T> {
  items: readonly T[];
  keyOf: (item: T) => string;
  /** The usual height of a row in pixels; the real one is measured. */
  height: number;
  label: string;
  className?: string;
  /** The next page, which is read when the end comes into view. */
  more?: More;
  children: (item: T, index: number) => ReactNode;
}

/** A list that draws only the rows in view, so that ten thousand scroll as smoothly as ten. */
export function VirtualList<T>({ items, keyOf, height, label, className, more, children }: VirtualListProps<T>) {
  const box = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: items.length,
    getScrollElement: () => box.current,
    estimateSize: () => height,
    getItemKey: (index) => {
      const item = items[index];
      return item === undefined ? index : keyOf(item);
    },
    overscan: 8,
  });
  const shown = rows.getVirtualItems();
  const last = shown.at(-1)?.index ?? -1;
  const read = more?.read;
  useEffect(() => {
    if (last >= items.length - 1) read?.();
  }, [last, items.length, read]);
  return (
    // A region that scrolls must be reachable by keyboard.
    <div ref={box} className={className ?? "h-full overflow-y-auto"} tabIndex={0} role="region" aria-label={label}>
      <div role="list" className="relative max-w-6xl" style={{ height: rows.getTotalSize() }}>
        {shown.map((row) => {
          const item = items[row.index];
          return (
            item !== undefined && (
              <div
                key={row.key}
                ref={rows.measureElement}
                data-index={row.index}
                role="listitem"
                aria-setsize={items.length}
                aria-posinset={row.index + 1}
                className="absolute top-0 left-0 w-full"
                style={{ transform: `translateY(${row.start.toString()}px)` }}
              >
                {children(item, row.index)}
              </div>
            )
          );
        })}
      </div>
      {more?.failed && (
        <p role="alert" className="flex flex-wrap items-center gap-3 px-2 py-3 text-sm text-muted">
          The next rows could not be read. <Button size="small" busy={more.busy} onClick={more.retry}>Try again</Button>
        </p>
      )}
    </div>
  );
}
