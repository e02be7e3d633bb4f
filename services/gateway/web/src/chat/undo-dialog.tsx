// Undo asks once, wherever it is offered.
import { useRollback } from "@/api/commands";
import { Dialog } from "@/components/dialog";
import { Button } from "@/components/ui";

interface UndoDialogProps {
  session: string;
  /** A commit of the past, or a snapshot of what is proposed. */
  target: { commit_id: string } | { snapshot: string };
  onClose: () => void;
  onDone?: (session: string) => void;
}

export function UndoDialog({ session, target, onClose, onDone }: UndoDialogProps) {
  const rollback = useRollback(session);
  const committed = "commit_id" in target;
  const undo = () => {
    rollback.mutate(target, {
      onSuccess: ({ session_id }) => { onDone?.(session_id); },
      onSettled: onClose,
    });
  };
  return (
    <Dialog open onClose={onClose} title={committed ? "Undo these changes?" : "Go back to before this step?"}>
      <p>{committed ? "The files become as they were before. Files that were modified since are reported, and never overwritten." : "What this step and later ones propose is discarded. No file was changed yet."}</p>
      <div className="flex justify-end gap-2 pt-4">
        <Button onClick={onClose}>Cancel</Button>
        <Button look="primary" busy={rollback.isPending} onClick={undo}>{committed ? "Undo" : "Go back"}</Button>
      </div>
    </Dialog>
  );
}
