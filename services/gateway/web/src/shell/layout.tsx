// The frame around every page: skip link, navigation, connection, palette and shortcuts.
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, Outlet, useNavigate, useRouterState } from "@tanstack/react-router";
import { Command, LogOut, Menu, Monitor, Moon, Plus, Sun, WifiOff } from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import { lazy, Suspense, useEffect, useMemo, useState } from "react";
import { approvalsQuery, sessionQuery, useQuestions } from "@/api/queries";
import { focusComposer } from "@/chat/composer";
import { asProblem } from "@/api/problem";
import { useShownError } from "@/components/states";
import { Badge, IconButton, Kbd } from "@/components/ui";
import { cx } from "@/lib/cx";
import { home, type PageEntry, PAGES } from "@/pages";
import { type Shortcut, useShortcuts } from "./shortcuts";
import { signOut } from "./sign-in";
import { setTheme, type Theme, useTheme } from "./theme";

const Palette = lazy(() => import("./palette"));
const Help = lazy(() => import("./help"));
const MAC = navigator.userAgent.includes("Mac");
const GROUPS = [
  { id: "work", title: null },
  { id: "operate", title: "Operate" },
] as const;

export function Shell() {
  const [palette, setPalette] = useState(false);
  const [help, setHelp] = useState(false);
  const [drawer, setDrawer] = useState(false);
  const navigate = useNavigate();
  const shortcuts = useMemo<Shortcut[]>(
    () => [
      { keys: "mod+k", does: "Open the command palette", run: () => { setPalette((open) => !open); } },
      { keys: "?", does: "Show the keyboard shortcuts", run: () => { setHelp(true); } },
      { keys: "n", does: "Start a new task", run: () => void navigate({ to: "/chat" }) },
      { keys: "/", does: "Write a message", run: focusComposer },
      ...PAGES.map((page) => ({
        keys: `g ${page.key}`,
        does: `Go to ${page.title}`,
        run: () => void navigate({ to: home(page) }),
      })),
    ],
    [navigate],
  );
  useShortcuts(shortcuts);
  useTitle();
  const close = () => { setDrawer(false); };
  const open = () => { setPalette(true); };
  return (
    <div className="flex h-full flex-col md:flex-row">
      <a href="#content" className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:m-2 focus:rounded-lg focus:bg-raised focus:px-3 focus:py-2 focus:shadow-float">
        Skip to content
      </a>
      <aside className="hidden w-58 shrink-0 flex-col border-r border-line bg-sunken md:flex">
        <Side onChoose={close} onPalette={open} />
      </aside>
      <header className="flex items-center gap-2 border-b border-line bg-sunken px-3 py-2 md:hidden">
        <IconButton label="Open navigation" onClick={() => { setDrawer(true); }}>
          <Menu aria-hidden className="size-5" />
        </IconButton>
        <Brand />
        <span className="flex-1" />
        <IconButton label="Open command palette" onClick={open}>
          <Command aria-hidden className="size-4" />
        </IconButton>
      </header>
      <Radix.Root open={drawer} onOpenChange={setDrawer}>
        <Radix.Portal>
          <Radix.Overlay className="fixed inset-0 z-40 bg-black/40 md:hidden" />
          <Radix.Content aria-describedby={undefined} className="fixed inset-y-0 left-0 z-50 flex w-64 max-w-[85vw] flex-col border-r border-line bg-sunken shadow-float md:hidden">
            <Radix.Title className="sr-only">Navigation</Radix.Title>
            <Side onChoose={close} onPalette={open} />
          </Radix.Content>
        </Radix.Portal>
      </Radix.Root>
      <div className="flex min-h-0 min-w-0 flex-1 flex-col">
        <ConnectionLost />
        <main id="content" tabIndex={-1} className="min-h-0 flex-1 outline-none">
          <Outlet />
        </main>
      </div>
      <Suspense>
        {palette && <Palette onClose={() => { setPalette(false); }} onHelp={() => { setHelp(true); }} />}
        {help && <Help shortcuts={shortcuts} onClose={() => { setHelp(false); }} />}
      </Suspense>
    </div>
  );
}

function Brand() {
  return (
    <Link to="/chat" className="flex items-center gap-2 rounded-lg px-1 font-semibold tracking-tight">
      <img src="/icon.svg" alt="" className="size-6" /> Suma
    </Link>
  );
}

function Side({ onChoose, onPalette }: { onChoose: () => void; onPalette: () => void }) {
  return (
    <>
      <div className="flex items-center justify-between px-3 pt-3 pb-2">
        <Brand />
        <button type="button" onClick={onPalette} title="Open command palette" className="rounded-lg p-1 hover:bg-hover">
          <span className="sr-only">Open command palette</span>
          <span aria-hidden className="flex items-center gap-1">
            <Kbd>{MAC ? "⌘" : "Ctrl"}</Kbd>
            <Kbd>K</Kbd>
          </span>
        </button>
      </div>
      <div className="px-3 pb-2">
        <Link
          to="/chat"
          onClick={onChoose}
          className="flex h-9 items-center justify-center gap-1.5 rounded-lg bg-accent font-medium text-white shadow-sm hover:bg-accent-strong"
        >
          <Plus aria-hidden className="size-4" /> New task
        </Link>
      </div>
      <nav aria-label="Main" className="min-h-0 flex-1 overflow-y-auto px-3 py-1">
        {GROUPS.map(({ id, title }) => (
          <NavGroup key={id} title={title} pages={PAGES.filter((page) => page.group === id)} onChoose={onChoose} />
        ))}
      </nav>
      <div className="flex items-center justify-between border-t border-line px-3 py-2">
        <ThemeChoice />
        <IconButton label="Sign out" onClick={() => void signOut()}>
          <LogOut aria-hidden className="size-4" />
        </IconButton>
      </div>
    </>
  );
}

function NavGroup({ title, pages, onChoose }: { title: string | null; pages: readonly PageEntry[]; onChoose: () => void }) {
  const { hasNextPage } = useInfiniteQuery(approvalsQuery);
  const waiting = useWaiting();
  const here = useRouterState({ select: (state) => state.location.pathname });
  if (pages.length === 0) return null;
  return (
    <>
      {title && <h2 className="px-2 pt-4 pb-1 text-xs font-medium text-muted">{title}</h2>}
      <ul className="flex flex-col gap-0.5">
        {pages.map((page) => {
          const current = here === home(page) || here.startsWith(`${home(page)}/`);
          return (
            <li key={page.path}>
              <Link
                to={home(page)}
                onClick={onChoose}
                aria-current={current ? "page" : undefined}
                className={cx(
                  "flex h-8.5 items-center gap-2.5 rounded-lg px-2 font-medium transition-colors hover:bg-hover",
                  current ? "bg-hover text-ink" : "text-muted",
                )}
              >
                <page.icon aria-hidden className="size-4 shrink-0" />
                <span className="flex-1 truncate">{page.title}</span>
                {page.title === "Approvals" && waiting > 0 && (
                  <Badge tone="warn">
                    {waiting}{hasNextPage && "+"}
                    <span className="sr-only"> waiting</span>
                  </Badge>
                )}
              </Link>
            </li>
          );
        })}
      </ul>
    </>
  );
}

const THEMES: readonly { value: Theme; label: string; icon: typeof Sun }[] = [
  { value: "light", label: "Light theme", icon: Sun },
  { value: "dark", label: "Dark theme", icon: Moon },
  { value: "system", label: "The system's theme", icon: Monitor },
];

function ThemeChoice() {
  const theme = useTheme();
  return (
    <div role="group" aria-label="Theme" className="flex gap-0.5 rounded-lg">
      {THEMES.map(({ value, label, icon: Icon }) => (
        <IconButton key={value} label={label} aria-pressed={theme === value} onClick={() => { setTheme(value); }} className={cx("size-7", theme === value && "bg-hover text-ink")}>
          <Icon aria-hidden className="size-3.5" />
        </IconButton>
      ))}
    </div>
  );
}

/** A line over every page while the server does not answer. The inbox is asked every few seconds, on each page. */
function ConnectionLost() {
  const error = useShownError(useInfiniteQuery(approvalsQuery));
  if (error === null || !asProblem(error).offline) return null;
  return (
    <p role="status" className="flex items-center gap-2 bg-warn-tint px-4 py-1.5 text-sm text-warn">
      <WifiOff aria-hidden className="size-4 shrink-0" />
      No connection to Suma. What you see may be out of date; trying again…
    </p>
  );
}

/** Name the tab by its session or page, with the number of questions that wait for the person. */
function useTitle(): void {
  const path = useRouterState({ select: (state) => state.location.pathname });
  const session = /^\/(?:chat|workspace)\/([^/]+)/.exec(path)?.[1];
  const title = useQuery({ ...sessionQuery(session ?? ""), enabled: session !== undefined }).data?.title;
  const waiting = useWaiting();
  useEffect(() => {
    const named = title ?? PAGES.find((each) => path.startsWith(home(each)))?.title;
    document.title = `${waiting > 0 ? `(${waiting.toString()}) ` : ""}${named ? `${named} · ` : ""}Suma`;
  }, [path, title, waiting]);
}

/** The number of open approvals and questions. */
function useWaiting(): number {
  const approvals = useInfiniteQuery(approvalsQuery).data?.pages.flatMap((page) => page.approvals) ?? [];
  return approvals.length + useQuestions().length;
}
