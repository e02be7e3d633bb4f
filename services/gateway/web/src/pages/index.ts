// The pages, in the order of the navigation. To add one, write a file here and a line below (docs/web.md).
import { Activity, BookMarked, FolderTree, History, Images, KeyRound, type LucideIcon, MailX, MessageSquare, ScrollText, Settings, ShieldCheck, Sparkles } from "lucide-react";
import type { ComponentType } from "react";

export interface PageEntry {
  /** The address; `{-$id}` is an optional part, which the page reads with `useParams`. */
  path: string;
  title: string;
  icon: LucideIcon;
  group: "work" | "operate";
  /** The letter or sign after `g` that opens the page. */
  key: string;
  load: () => Promise<{ default: ComponentType }>;
}

export const PAGES: readonly PageEntry[] = [
  { path: "/chat/{-$session}", title: "Chat", icon: MessageSquare, group: "work", key: "c", load: () => import("./chat") },
  { path: "/approvals", title: "Approvals", icon: ShieldCheck, group: "work", key: "a", load: () => import("./approvals") },
  { path: "/workspace/{-$session}", title: "Workspace", icon: FolderTree, group: "work", key: "w", load: () => import("./workspace") },
  { path: "/sessions", title: "Sessions", icon: History, group: "work", key: "s", load: () => import("./sessions") },
  { path: "/skills/{-$skill}", title: "Skills", icon: Sparkles, group: "work", key: "k", load: () => import("./skills") },
  { path: "/make/{-$job}", title: "Make", icon: Images, group: "work", key: "e", load: () => import("./make") },
  { path: "/memory", title: "Memory", icon: BookMarked, group: "work", key: "m", load: () => import("./memory") },
  { path: "/operations", title: "Operations", icon: Activity, group: "operate", key: "o", load: () => import("./operations") },
  { path: "/dead-letters", title: "Dead letters", icon: MailX, group: "operate", key: "d", load: () => import("./dead-letters") },
  { path: "/audit", title: "Audit", icon: ScrollText, group: "operate", key: "u", load: () => import("./audit") },
  { path: "/keys", title: "Keys and tenants", icon: KeyRound, group: "operate", key: "y", load: () => import("./keys") },
  { path: "/settings", title: "Settings", icon: Settings, group: "operate", key: ",", load: () => import("./settings") },
];

/** The address of a page without its optional part. */
export function home(page: PageEntry): string {
  return page.path.replace(/\/\{-\$\w+\}$/, "");
}
