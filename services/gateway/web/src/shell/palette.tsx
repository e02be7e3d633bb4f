// The command palette: go to a page or a session, or do what has no button in view.
import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Command } from "cmdk";
import { Keyboard, LogOut, MessageSquare, Moon, Plus, Sun } from "lucide-react";
import type { ReactNode } from "react";
import { sessionsQuery } from "@/api/queries";
import { home, PAGES } from "@/pages";
import { Dialog } from "@/components/dialog";
import { signOut } from "./sign-in";
import { isDark, setTheme } from "./theme";

const SESSIONS = 50;

export default function Palette({ onClose, onHelp }: { onClose: () => void; onHelp: () => void }) {
  const navigate = useNavigate();
  const sessions = useInfiniteQuery(sessionsQuery()).data?.pages[0]?.sessions.slice(0, SESSIONS) ?? [];
  const go = (to: string) => () => {
    onClose();
    void navigate({ to });
  };
  const act = (run: () => void) => () => {
    onClose();
    run();
  };
  return (
    <Dialog open onClose={onClose} title="Commands">
      <Command label="Commands" loop>
        <Command.Input
          // The palette is opened to type into it.
          // eslint-disable-next-line jsx-a11y/no-autofocus
          autoFocus
          placeholder="Search pages, sessions, commands…"
          className="mb-2 h-10 w-full rounded-lg border border-line-strong/60 bg-surface px-3 placeholder:text-muted"
        />
        <Command.List className="max-h-[50vh] overflow-y-auto">
          <Command.Empty className="p-4 text-center text-sm text-muted">Nothing found.</Command.Empty>
          <Group heading="Do">
            <Item icon={<Plus className="size-4" />} onSelect={go("/chat")}>Start a new task</Item>
            <Item icon={isDark() ? <Sun className="size-4" /> : <Moon className="size-4" />} onSelect={act(() => { setTheme(isDark() ? "light" : "dark"); })}>
              Switch to the {isDark() ? "light" : "dark"} theme
            </Item>
            <Item icon={<Keyboard className="size-4" />} onSelect={act(onHelp)}>Show the keyboard shortcuts</Item>
            <Item icon={<LogOut className="size-4" />} onSelect={act(() => void signOut())}>Sign out</Item>
          </Group>
          <Group heading="Pages">
            {PAGES.map((page) => (
              <Item key={page.path} icon={<page.icon className="size-4" />} onSelect={go(home(page))}>{page.title}</Item>
            ))}
          </Group>
          <Group heading="Sessions">
            {sessions.map((session) => (
              <Item key={session.session_id} value={`${session.title ?? ""} ${session.root ?? ""} ${session.session_id}`} icon={<MessageSquare className="size-4" />} onSelect={go(`/chat/${session.session_id}`)}>
                {session.title ?? "Untitled"}
              </Item>
            ))}
          </Group>
        </Command.List>
      </Command>
    </Dialog>
  );
}

function Group({ heading, children }: { heading: string; children: ReactNode }) {
  return (
    <Command.Group heading={heading} className="text-xs font-medium text-muted [&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1">
      {children}
    </Command.Group>
  );
}

function Item({ icon, value, onSelect, children }: { icon: ReactNode; value?: string; onSelect: () => void; children: ReactNode }) {
  return (
    <Command.Item
      {...(value === undefined ? {} : { value })}
      onSelect={onSelect}
      className="flex h-9 cursor-pointer items-center gap-2.5 rounded-lg px-2 text-base font-normal text-ink data-[selected=true]:bg-hover"
    >
      <span aria-hidden className="text-muted">{icon}</span>
      <span className="truncate">{children}</span>
    </Command.Item>
  );
}
