import { useSyncExternalStore } from "react";

export type Theme = "system" | "light" | "dark";

const KEY = "suma.theme";
const system = matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();

function stored(): Theme {
  try {
    const found = localStorage.getItem(KEY);
    return found === "light" || found === "dark" ? found : "system";
  } catch {
    return "system";
  }
}

let theme = stored();

function apply(): void {
  document.documentElement.classList.toggle("dark", isDark());
  for (const listener of listeners) listener();
}

system.addEventListener("change", apply);

export function isDark(): boolean {
  return theme === "dark" || (theme === "system" && system.matches);
}

export function setTheme(next: Theme): void {
  theme = next;
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // Storage may be blocked; the choice then lasts as long as the page.
  }
  apply();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, () => theme);
}

/** Whether the dark theme is shown, for drawings that take no colours from CSS. */
export function useDark(): boolean {
  return useSyncExternalStore(subscribe, isDark);
}
