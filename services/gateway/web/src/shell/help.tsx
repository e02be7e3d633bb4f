import { Dialog } from "@/components/dialog";
import { Kbd } from "@/components/ui";
import type { Shortcut } from "./shortcuts";

/** The keyboard shortcuts of every page. */
export default function Help({ shortcuts, onClose }: { shortcuts: readonly Shortcut[]; onClose: () => void }) {
  return (
    <Dialog open onClose={onClose} title="Keyboard shortcuts">
      <dl className="grid grid-cols-[1fr_auto] items-center gap-y-2">
        {shortcuts.map(({ keys, does }) => (
          <div key={keys} className="contents">
            <dt>{does}</dt>
            <dd className="flex justify-end gap-1">
              {keys.split(/[ +]/).map((key) => (
                <Kbd key={key}>{key === "mod" ? "⌘/Ctrl" : key}</Kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
