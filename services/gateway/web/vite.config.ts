import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

const here = import.meta.dirname;
const TEXT = /\.(js|css|html|svg|webmanifest)$/;

/** Write a .br and a .gz beside each text file, which the gateway sends as they are. */
function compressed(): Plugin {
  let out = "";
  return {
    name: "compressed",
    apply: "build",
    configResolved: (config) => void (out = config.build.outDir),
    closeBundle() {
      for (const name of readdirSync(out, { recursive: true, encoding: "utf8" }).filter((each) => TEXT.test(each))) {
        const body = readFileSync(join(out, name));
        const quality = { [constants.BROTLI_PARAM_QUALITY]: 11 };
        writeFileSync(join(out, `${name}.br`), brotliCompressSync(body, { params: quality }));
        writeFileSync(join(out, `${name}.gz`), gzipSync(body, { level: 9 }));
      }
    },
  };
}

export default defineConfig({
  plugins: [react(), tailwindcss(), compressed()],
  resolve: {
    alias: {
      "@": join(here, "src"),
      // The package adds <style> elements, which our Content-Security-Policy forbids.
      "react-style-singleton": join(here, "src/lib/style-singleton.ts"),
    },
  },
  build: {
    target: "es2023",
    // A data: URL saves a request, but fonts and images would need a wider policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
  },
  server: { proxy: { "/v1": process.env.SUMA_URL ?? "http://127.0.0.1:8010" } },
  test: { include: ["tests/**/*.test.{ts,tsx}"], pool: "threads", isolate: false },
});
