import js from "@eslint/js";
import a11y from "eslint-plugin-jsx-a11y";
import hooks from "eslint-plugin-react-hooks";
import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["src/api/generated", "dist", "public"] },
  js.configs.recommended,
  ...tseslint.configs.strict,
  a11y.flatConfigs.strict,
  hooks.configs.flat["recommended-latest"],
  {
    languageOptions: { globals: { process: "readonly", URL: "readonly", console: "readonly" } },
    rules: {
      "no-undef": "off", // TypeScript finds these
      "react-hooks/incompatible-library": "off", // TanStack Virtual returns functions
      "@typescript-eslint/no-non-null-assertion": "error",
      // A region that scrolls must be reachable by keyboard.
      "jsx-a11y/no-noninteractive-tabindex": ["error", { roles: ["tabpanel", "region", "main"], tags: [] }],
      // HTML from a model must never reach the page.
      "no-restricted-syntax": ["error", { selector: "JSXAttribute[name.name='dangerouslySetInnerHTML']", message: "Render Markdown with <Markdown>." }],
    },
  },
);
