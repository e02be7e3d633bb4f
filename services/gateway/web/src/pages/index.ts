// The pages, in the order of the navigation. To add one, write a file here and a line below (docs/web.md).
import { type LucideIcon, MessageSquare } from "lucide-react";
import type { ComponentType } from "react";

export interface PageEntry {
  /** The address; `{-$id}` is an optional part, which the page reads with `useParams`. */
  path: string;
  title: string;
  icon: LucideIcon;
  group: "work" | "operate";
  /** The letter after `g` that opens the page. */
  key: string;
  load: () => Promise<{ default: ComponentType }>;
}

export const PAGES: readonly PageEntry[] = [
  { path: "/chat/{-$session}", title: "Chat", icon: MessageSquare, group: "work", key: "c", load: () => import("./chat") },
];

/** The address of a page without its optional part. */
export function home(page: PageEntry): string {
  return page.path.replace(/\/\{-\$\w+\}$/, "");
}
