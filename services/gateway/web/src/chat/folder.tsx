// A folder to work in: its state while it is typed, and the permission that only its owner can give, on the machine.
import { useQuery } from "@tanstack/react-query";
import { Check, Copy, FolderLock } from "lucide-react";
import { useEffect, useState } from "react";
import type { Schemas } from "@/api/client";
import { folderQuery } from "@/api/queries";
import { tellProblem } from "@/components/toast";
import { Badge, Button, Card, Spinner, type Tone } from "@/components/ui";
import { copy } from "@/lib/clipboard";
import { useLater } from "@/lib/use-later";

type Folder = Schemas["FolderShown"];

const STATES: Record<Folder["state"], { text: string; tone: Tone }> = {
  allowed: { text: "Allowed", tone: "ok" },
  needs_permission: { text: "Needs permission", tone: "warn" },
  missing: { text: "No such folder", tone: "danger" },
  refused: { text: "Cannot be used", tone: "danger" },
};

/** What is known of a typed folder; undefined until the server has answered. */
export function useFolder(path: string): Folder | undefined {
  const settled = useLater(path);
  const found = useQuery({ ...folderQuery(settled), enabled: settled !== "" }).data;
  return settled === path ? found : undefined;
}

/** The state of a typed folder in a word, and why it cannot be used. */
export function FolderState({ folder }: { folder: Folder }) {
  const { text, tone } = STATES[folder.state];
  return (
    <span role="status" className="flex min-w-0 items-center gap-1.5 text-sm">
      <Badge tone={tone}>{text}</Badge>
      {folder.state === "needs_permission" && <span className="text-muted">Suma asks for it when you send the task.</span>}
      {tone === "danger" && <span className="min-w-0 [overflow-wrap:anywhere] text-danger">{folder.detail}</span>}
    </span>
  );
}

/** Quote a path for a shell. */
const quoted = (path: string) => (/^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`);

/** Ask for the permission to work in a folder, and call `onAllowed` once it is given, wherever that happens. */
export function FolderPermission({ path, onAllowed, onCancel }: { path: string; onAllowed?: () => void; onCancel?: () => void }) {
  const command = `suma roots add ${quoted(path)}`;
  const [copied, setCopied] = useState(false);
  const allowed = useQuery(folderQuery(path)).data?.state === "allowed";
  useEffect(() => {
    if (allowed) onAllowed?.();
  }, [allowed, onAllowed]);
  if (allowed) return null;
  return (
    <Card aria-label="Permission for a folder" className="flex flex-col gap-2.5 border-warn/50 p-4">
      <p className="flex items-start gap-2 font-medium [overflow-wrap:anywhere]">
        <FolderLock aria-hidden className="mt-0.5 size-4 shrink-0 text-warn" /> Allow Suma to work in {path}?
      </p>
      <p className="text-sm text-muted">Only this machine’s owner can allow a folder. Run this in a terminal:</p>
      <div className="flex items-center gap-2">
        <code className="min-w-0 flex-1 rounded-lg bg-sunken px-3 py-1.5 font-mono text-sm [overflow-wrap:anywhere]">{command}</code>
        <Button onClick={() => { copy(command).then(() => { setCopied(true); }, tellProblem); }}>
          {copied ? <Check aria-hidden className="size-4" /> : <Copy aria-hidden className="size-4" />} {copied ? "Copied" : "Copy"}
        </Button>
      </div>
      <p role="status" className="flex items-center gap-2 text-sm text-muted">
        <Spinner className="size-3" /> {onAllowed ? "Waiting; the task starts as soon as the folder is allowed." : "Waiting for the permission."}
        {onCancel && <Button look="quiet" size="small" onClick={onCancel}>Cancel</Button>}
      </p>
    </Card>
  );
}
