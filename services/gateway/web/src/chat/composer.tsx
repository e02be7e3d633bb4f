// The message field. Enter sends, Shift+Enter breaks the line; while a turn runs, Stop stops it on the server.
import { ArrowUp, Square } from "lucide-react";
import { type ClipboardEvent, type DragEvent, type KeyboardEvent, type ReactNode, useEffect, useRef } from "react";
import { Button, IconButton, Kbd } from "@/components/ui";
import { restoreDraft, useMessageDraft, writeDraft } from "@/session/message-drafts";
import { AttachButton, AttachmentList, useAttachments } from "./attachments";

interface ComposerProps {
  placeholder: string;
  busy: boolean;
  /** Sends a text with the ids of uploaded files; both come back if it fails. */
  onSend: (text: string, attachments: string[]) => Promise<unknown>;
  /** Stops the running turn; absent if none runs. */
  onStop?: (() => void) | undefined;
  stopping?: boolean;
  /** The session whose unsent text this is. */
  of: string;
  focused?: boolean;
  children?: ReactNode;
}

const LONGEST = 100_000;
/** How Safari reports the Enter that ends a word of an input method; it has left `isComposing` by then. */
const INPUT_METHOD_KEY = 229;

const isComposing = ({ nativeEvent }: KeyboardEvent) => nativeEvent.isComposing || nativeEvent.keyCode === INPUT_METHOD_KEY;

/** Put the focus into the message field of the page. */
export function focusComposer(): void {
  document.querySelector<HTMLTextAreaElement>("[data-composer]")?.focus();
}

export function Composer({ placeholder, busy, onSend, onStop, stopping = false, of, focused = false, children }: ComposerProps) {
  const text = useMessageDraft(of);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    const box = field.current;
    if (!box) return;
    box.style.height = "auto";
    box.style.height = `${Math.min(box.scrollHeight, 240).toString()}px`;
  }, [text]);
  useEffect(() => {
    if (focused) field.current?.focus();
  }, [focused]);
  const attachments = useAttachments();
  const { ids } = attachments;
  const ready = text.trim() !== "" && !busy && ids !== null;
  const send = () => {
    if (!ready) return;
    writeDraft(of, "");
    onSend(text.trim(), ids).then(attachments.clear, () => { restoreDraft(of, text); });
  };
  const take = (event: ClipboardEvent | DragEvent, from: DataTransfer) => {
    if (!attachments.allowed || from.files.length === 0) return;
    event.preventDefault();
    attachments.add(from.files);
  };
  const pressed = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || isComposing(event)) return;
    event.preventDefault();
    send();
  };
  return (
    <form
      onSubmit={(event) => { event.preventDefault(); send(); }}
      className="rounded-2xl border border-line-strong/60 bg-surface shadow-float focus-within:border-accent-ink"
    >
      <textarea
        ref={field}
        data-composer
        rows={1}
        value={text}
        maxLength={LONGEST}
        aria-label="Message"
        placeholder={placeholder}
        onChange={(event) => { writeDraft(of, event.target.value); }}
        onKeyDown={pressed}
        onDragOver={(event) => { event.preventDefault(); }}
        onDrop={(event) => { take(event, event.dataTransfer); }}
        onPaste={(event) => { take(event, event.clipboardData); }}
        className="block max-h-60 w-full resize-none bg-transparent px-4 pt-3 pb-1 text-base outline-none placeholder:text-muted"
      />
      <AttachmentList attachments={attachments} />
      <div className="flex flex-wrap items-center gap-2 px-2.5 pb-2.5">
        <AttachButton attachments={attachments} />
        <div className="flex min-w-0 flex-1 flex-wrap items-center gap-2 max-sm:order-first max-sm:basis-full">{children}</div>
        <span className="hidden items-center gap-1 text-xs text-muted lg:flex"><Kbd>Enter</Kbd> sends</span>
        {onStop && (
          <Button look="danger" size="small" busy={stopping} onClick={onStop}>
            {!stopping && <Square aria-hidden className="size-3 fill-current" />} Stop
          </Button>
        )}
        <IconButton label="Send" type="submit" disabled={!ready} className="bg-accent text-white hover:bg-accent-strong hover:text-white disabled:bg-hover disabled:text-muted">
          <ArrowUp aria-hidden className="size-4" />
        </IconButton>
      </div>
    </form>
  );
}
