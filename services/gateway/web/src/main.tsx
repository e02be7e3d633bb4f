import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { queryClient } from "./api/queries";
import { Toasts } from "./components/toast";
import { router } from "./router";
import { keepOffline, keepPages } from "./shell/offline";
import { SignedIn } from "./shell/sign-in";
import "./styles.css";

const place = document.getElementById("root");
if (place === null) throw new Error("index.html has no #root");

createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <SignedIn>
        <RouterProvider router={router} />
      </SignedIn>
      <Toasts />
    </QueryClientProvider>
  </StrictMode>,
);

if (import.meta.env.PROD) {
  void keepOffline();
  keepPages();
}
