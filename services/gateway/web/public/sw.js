// The service worker keeps the application's own files, so that it opens without a connection and then says so.
// It never stores an answer of the API: data belongs to the server and to the signed-in person.
const CACHE = "suma-shell";
const SHELL = ["/", "/theme.js", "/icon.svg", "/manifest.webmanifest"];

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(SHELL)).then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== location.origin) return;
  if (url.pathname.startsWith("/assets/")) event.respondWith(hashed(request));
  else if (request.mode === "navigate" && !API.test(url.pathname)) event.respondWith(page(request));
});

const API = /^\/(v1|docs|openapi\.json|metrics|healthz|readyz|\.well-known)(\/|$)/;

/** A hashed file never changes: the stored copy is right, and old ones go when another build's page is stored. */
async function hashed(request) {
  const cache = await caches.open(CACHE);
  const stored = await cache.match(request);
  if (stored) return stored;
  const answer = await fetch(request);
  if (answer.ok) await cache.put(request, answer.clone());
  return answer;
}

/** Pages come from the network; without it, the stored shell opens and shows that the connection is missing. */
async function page(request) {
  const cache = await caches.open(CACHE);
  try {
    const answer = await fetch(request);
    if (answer.ok && answer.headers.get("content-type")?.startsWith("text/html")) await remember(cache, answer.clone());
    return answer;
  } catch (error) {
    const stored = await cache.match("/");
    if (stored) return stored;
    throw error;
  }
}

async function remember(cache, answer) {
  const [fresh, stored] = [await answer.clone().text(), await (await cache.match("/"))?.text()];
  if (fresh === stored) return;
  for (const key of await cache.keys()) {
    if (new URL(key.url).pathname.startsWith("/assets/")) await cache.delete(key);
  }
  // Stored without its URL, since each page has the same document.
  await cache.put("/", new Response(fresh, { headers: answer.headers }));
}
