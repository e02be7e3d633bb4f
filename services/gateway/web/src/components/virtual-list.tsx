import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useRef } from "react";

interface VirtualListProps<T> {
  items: readonly T[];
  keyOf: (item: T) => string;
  /** The usual height of a row in pixels; the real one is measured. */
  height: number;
  label: string;
  className?: string;
  /** Called when the end comes into view. */
  onEnd?: () => void;
  children: (item: T, index: number) => ReactNode;
}

/** A list that draws only the rows in view, so that ten thousand scroll as smoothly as ten. */
export function VirtualList<T>({ items, keyOf, height, label, className, onEnd, children }: VirtualListProps<T>) {
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
  useEffect(() => {
    if (last >= items.length - 1) onEnd?.();
  }, [last, items.length, onEnd]);
  return (
    // A region that scrolls must be reachable by keyboard.
    <div ref={box} className={className ?? "h-full overflow-y-auto"} tabIndex={0} role="region" aria-label={label}>
      <div role="list" className="relative" style={{ height: rows.getTotalSize() }}>
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
    </div>
  );
}
