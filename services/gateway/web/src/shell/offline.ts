// The service worker, so that the application opens without a connection and says so. It never stores data.

import { PAGES } from "@/pages";

const CACHE = "suma-shell";
/** Milliseconds after the start: the first page comes first. */
const SETTLED = 3000;

/** Fetch the pages that were not visited yet, so that each opens without a server. */
export function keepPages(): void {
  setTimeout(() => {
    for (const { load } of PAGES) load().catch(() => undefined);
  }, SETTLED);
}

/** Start the service worker, and hand it the files that were loaded before it could see them. */
export async function keepOffline(): Promise<void> {
  try {
    await navigator.serviceWorker.register("/sw.js");
    await navigator.serviceWorker.ready;
    const cache = await caches.open(CACHE);
    const loaded = performance.getEntriesByType("resource").map(({ name }) => new URL(name).pathname);
    for (const path of loaded.filter((each) => each.startsWith("/assets/"))) {
      if (!(await cache.match(path))) await cache.add(path);
    }
  } catch {
    // Without it (plain http elsewhere, private windows) the application works, but cannot open offline.
  }
}
