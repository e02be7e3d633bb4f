import { Problem } from "@/api/problem";

const REFUSED = new Problem(-1, "NO_CLIPBOARD", "The browser did not copy it, as it may only over https or on localhost. Select the text, and copy it yourself.");

/** Copy a text. Throws REFUSED, also where a browser has no clipboard: on plain http. */
export async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    throw REFUSED;
  }
}
