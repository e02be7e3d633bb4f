// Files that go with a message: each is uploaded as soon as it is chosen, and the message then names its id.
import { Paperclip, X } from "lucide-react";
import { useCallback, useRef, useState } from "react";
import { signedOut } from "@/api/client";
import { asProblem, problemOf, UNREACHABLE, type Problem } from "@/api/problem";
import { useMay } from "@/api/queries";
import { tellProblem } from "@/components/toast";
import { IconButton, Spinner } from "@/components/ui";
import { bytes } from "@/lib/format";

/** The API takes at most ten with a message. */
const MOST = 10;
const AGAIN = [500, 2000, 5000];

interface Attachment {
  key: number;
  name: string;
  size: number;
  sent: number;
  /** The upload's id, once the server has all of it. */
  id: string | null;
}

export interface Attachments {
  files: readonly Attachment[];
  /** The ids of all files; null while one is still on its way. */
  ids: string[] | null;
  /** Whether the person may attach files. */
  allowed: boolean;
  add: (files: Iterable<File>) => void;
  remove: (key: number) => void;
  clear: () => void;
}

export function useAttachments(): Attachments {
  const [files, setFiles] = useState<readonly Attachment[]>([]);
  const stops = useRef(new Map<number, () => void>());
  const next = useRef(0);
  const change = useCallback((key: number, part: Partial<Attachment>) => {
    setFiles((now) => now.map((each) => (each.key === key ? { ...each, ...part } : each)));
  }, []);
  const remove = useCallback((key: number) => {
    stops.current.get(key)?.();
    stops.current.delete(key);
    setFiles((now) => now.filter((each) => each.key !== key));
  }, []);
  const add = (chosen: Iterable<File>) => {
    for (const file of [...chosen].slice(0, MOST - files.length)) {
      const key = next.current++;
      setFiles((now) => [...now, { key, name: file.name, size: file.size, sent: 0, id: null }]);
      void upload(file, {
        onStart: (stop) => stops.current.set(key, stop),
        onSent: (sent) => { change(key, { sent }); },
        onDone: (id) => { change(key, { id }); },
        onFailed: (problem) => {
          tellProblem(problem);
          stops.current.delete(key);
          remove(key);
        },
      });
    }
  };
  // Files of a message that was sent belong to it.
  const clear = () => {
    stops.current.clear();
    setFiles([]);
  };
  const done = files.flatMap(({ id }) => id ?? []);
  return { files, ids: done.length === files.length ? done : null, allowed: useMay("files:write"), add, remove, clear };
}

interface Observer {
  onStart: (stop: () => void) => void;
  onSent: (bytes: number) => void;
  onDone: (id: string) => void;
  onFailed: (problem: Problem) => void;
}

/** Send a file, resuming after interruptions. Stopping deletes it on the server. */
async function upload(file: File, { onStart, onSent, onDone, onFailed }: Observer): Promise<void> {
  const { DetailedError, Upload } = await import("tus-js-client");
  const sending = new Upload(file, {
    endpoint: "/v1/uploads",
    metadata: { filename: file.name },
    retryDelays: AGAIN,
    storeFingerprintForResuming: false,
    onProgress: onSent,
    onSuccess: () => { onDone(sending.url?.split("/").at(-1) ?? ""); },
    onError: (error) => {
      const answer = error instanceof DetailedError ? error.originalResponse : null;
      if (answer?.getStatus() === 401) signedOut();
      onFailed(answer ? problemOf(answer.getStatus(), parsed(answer.getBody())) : error instanceof DetailedError ? UNREACHABLE : asProblem(error));
    },
  });
  onStart(() => { sending.abort(true).catch(tellProblem); });
  sending.start();
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return null;
  }
}

/** The button that chooses files. */
export function AttachButton({ attachments }: { attachments: Attachments }) {
  const input = useRef<HTMLInputElement>(null);
  if (!attachments.allowed) return null;
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Files to attach"
        onChange={(event) => {
          attachments.add(event.target.files ?? []);
          event.target.value = "";
        }}
      />
      <IconButton label="Attach files" disabled={attachments.files.length >= MOST} onClick={() => input.current?.click()}>
        <Paperclip aria-hidden className="size-4" />
      </IconButton>
    </>
  );
}

/** The chosen files, each with how much of it has arrived. */
export function AttachmentList({ attachments }: { attachments: Attachments }) {
  if (attachments.files.length === 0) return null;
  return (
    <ul aria-label="Attached files" className="flex flex-wrap gap-1.5 px-3 pt-2">
      {attachments.files.map(({ key, name, size, sent, id }) => (
        <li key={key} className="flex max-w-full min-w-0 items-center gap-1.5 rounded-lg bg-hover py-0.5 pr-0.5 pl-2 text-sm">
          {id === null ? <Spinner className="shrink-0 text-muted" /> : <Paperclip aria-hidden className="size-3.5 shrink-0 text-muted" />}
          <span className="min-w-0 truncate">{name}</span>
          <span className="shrink-0 text-xs text-muted tabular-nums">{id === null ? `${Math.floor((sent / Math.max(size, 1)) * 100).toString()} %` : bytes(size)}</span>
          <IconButton label={`Remove ${name}`} className="size-6" onClick={() => { attachments.remove(key); }}>
            <X aria-hidden className="size-3.5" />
          </IconButton>
        </li>
      ))}
    </ul>
  );
}
