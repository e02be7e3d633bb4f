// Stands in for the package react-style-singleton: the same functions, but with adopted style sheets instead of <style>
// elements, which the Content-Security-Policy forbids.
import { useEffect } from "react";

interface Singleton {
  add: (css: string) => void;
  remove: () => void;
}

export function stylesheetSingleton(): Singleton {
  let users = 0;
  let sheet: CSSStyleSheet | null = null;
  return {
    add(css) {
      if (users++ > 0) return;
      sheet = new CSSStyleSheet();
      sheet.replaceSync(css);
      document.adoptedStyleSheets.push(sheet);
    },
    remove() {
      if (--users > 0) return;
      document.adoptedStyleSheets = document.adoptedStyleSheets.filter((each) => each !== sheet);
    },
  };
}

export function styleHookSingleton(): (css: string, dynamic?: boolean) => void {
  const sheet = stylesheetSingleton();
  return function useSheet(css, dynamic) {
    const changes = dynamic ? css : "";
    // Only a dynamic style sheet follows changes of its text.
    // eslint-disable-next-line react-hooks/exhaustive-deps
    useEffect(() => (sheet.add(css), sheet.remove), [changes]);
  };
}

export function styleSingleton() {
  const useSheet = styleHookSingleton();
  return function Sheet({ styles, dynamic }: { styles: string; dynamic?: boolean }) {
    useSheet(styles, dynamic);
    return null;
  };
}
