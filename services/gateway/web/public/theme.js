// Set the theme before the first paint. A separate file, because the Content-Security-Policy forbids inline scripts.
(() => {
  let chosen = "system";
  try {
    chosen = localStorage.getItem("suma.theme") ?? "system";
  } catch {
    // Storage may be blocked; the system's theme applies.
  }
  const dark = chosen === "dark" || (chosen === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.classList.toggle("dark", dark);
})();
