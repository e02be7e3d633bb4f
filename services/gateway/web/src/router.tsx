import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { asProblem } from "@/api/problem";
import { Failed, Loading, Notice } from "@/components/states";
import { Compass } from "lucide-react";
import { PAGES } from "./pages";
import { Shell } from "./shell/layout";

/** A page that could not be fetched is a lost connection. The router would reload the document, and all typed text. */
function unloaded(error: unknown): never {
  throw asProblem(error);
}

const root = createRootRoute({ component: Shell });

const first = createRoute({
  getParentRoute: () => root,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/chat/{-$session}" });
  },
});

const pages = PAGES.map(({ path, load }) =>
  createRoute({ getParentRoute: () => root, path, component: lazyRouteComponent(() => load().catch(unloaded)) }),
);

export const router = createRouter({
  routeTree: root.addChildren([first, ...pages]),
  defaultPreload: "intent",
  defaultPendingComponent: () => (
    <div className="p-6">
      <Loading />
    </div>
  ),
  defaultErrorComponent: ({ error, reset }) => <Failed whole error={error} retry={() => { reset(); void router.invalidate(); }} />,
  defaultNotFoundComponent: () => (
    <Notice whole icon={Compass} title="There is no such page">
      Choose one from the navigation, or press ⌘K or Ctrl+K.
    </Notice>
  ),
});
