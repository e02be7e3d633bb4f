import { cx } from "@/lib/cx";

/** A folder's path in one line. Its end tells folders apart, so a long one is cut at its beginning. */
export function FolderPath({ path, className }: { path: string; className?: string }) {
  return (
    <span title={path} className={cx("block min-w-0 truncate text-left [direction:rtl]", className)}>
      <bdi>{path}</bdi>
    </span>
  );
}
