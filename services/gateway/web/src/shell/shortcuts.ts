// Keyboard shortcuts. A letter works where nothing is typed; the palette opens everywhere.
import { useEffect } from "react";

export interface Shortcut {
  /** `k` with ⌘ or Ctrl as `mod+k`; a sequence as `g c`. */
  keys: string;
  does: string;
  run: () => void;
}

const SEQUENCE_MS = 900;

function typing(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

function nameOf(event: KeyboardEvent): string {
  return `${event.metaKey || event.ctrlKey ? "mod+" : ""}${event.key.toLowerCase()}`;
}

export function useShortcuts(shortcuts: readonly Shortcut[]): void {
  useEffect(() => {
    let before = "";
    let at = 0;
    const pressed = (event: KeyboardEvent) => {
      const name = nameOf(event);
      if (event.altKey || event.isComposing || (!name.startsWith("mod+") && typing(event.target))) return;
      const sequence = Date.now() - at < SEQUENCE_MS ? `${before} ${name}` : name;
      const found = shortcuts.find(({ keys }) => keys === sequence) ?? shortcuts.find(({ keys }) => keys === name);
      before = name;
      at = Date.now();
      if (!found) return;
      event.preventDefault();
      found.run();
    };
    window.addEventListener("keydown", pressed);
    return () => { window.removeEventListener("keydown", pressed); };
  }, [shortcuts]);
}
