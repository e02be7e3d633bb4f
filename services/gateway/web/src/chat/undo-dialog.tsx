// Undo and redo ask once, wherever they are offered.
import { type UndoTarget, useUndo } from "@/api/commands";
import { Dialog } from "@/components/dialog";
import { Button } from "@/components/ui";
import { focusComposer } from "./composer";

interface UndoDialogProps {
  session: string;
  target: UndoTarget;
  onClose: () => void;
  onDone?: (session: string) => void;
}

const SAFE = "Files that were modified since are reported, and never overwritten.";
const WORDS = {
  undo: { title: "Undo these changes?", text: `The files become as they were before. ${SAFE}`, button: "Undo" },
  redo: { title: "Make these changes again?", text: `What was undone is done again. ${SAFE}`, button: "Redo" },
  discard: { title: "Go back to before this step?", text: "What this step and later ones propose is discarded. No file was changed yet.", button: "Go back" },
} as const;

function wordsOf(target: UndoTarget): (typeof WORDS)[keyof typeof WORDS] {
  if ("snapshot" in target) return WORDS.discard;
  return target.redo ? WORDS.redo : WORDS.undo;
}

export function UndoDialog({ session, target, onClose, onDone }: UndoDialogProps) {
  const undo = useUndo(session);
  const { title, text, button } = wordsOf(target);
  const agree = () => {
    undo.mutate(target, {
      onSuccess: ({ session_id }) => { onDone?.(session_id); },
      onSettled: onClose,
    });
  };
  return (
    <Dialog open onClose={onClose} title={title} {...(!undo.isIdle && { onGone: focusComposer })}>
      <p>{text}</p>
      <div className="flex justify-end gap-2 pt-4">
        <Button onClick={onClose}>Cancel</Button>
        <Button look="primary" busy={undo.isPending} onClick={agree}>{button}</Button>
      </div>
    </Dialog>
  );
}
