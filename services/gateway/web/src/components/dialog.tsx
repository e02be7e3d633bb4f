import { X } from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import type { ReactNode } from "react";
import { cx } from "@/lib/cx";
import { IconButton } from "./ui";

interface DialogProps {
  open: boolean;
  onClose: () => void;
  title: string;
  about?: ReactNode;
  children: ReactNode;
  wide?: boolean;
  /** Takes the focus when the dialog closes and what had it is gone. */
  onGone?: () => void;
}

/** A modal dialog: it keeps the focus inside, closes with Escape, and returns the focus. */
export function Dialog({ open, onClose, title, about, children, wide = false, onGone }: DialogProps) {
  return (
    <Radix.Root open={open} onOpenChange={(next) => { if (!next) onClose(); }}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-black/40" />
        <Radix.Content
          aria-describedby={undefined}
          {...(onGone && { onCloseAutoFocus: (event: Event) => { event.preventDefault(); onGone(); } })}
          className={cx(
            "animate-appear fixed top-[12vh] left-1/2 z-50 flex max-h-[80vh] w-[calc(100vw-1.5rem)] -translate-x-1/2 flex-col rounded-2xl border border-line bg-raised shadow-float",
            wide ? "max-w-3xl" : "max-w-lg",
          )}
        >
          <div className="flex items-start gap-3 px-5 pt-4 pb-2">
            <div className="min-w-0 flex-1">
              <Radix.Title className="text-lg font-semibold">{title}</Radix.Title>
              {about && <div className="text-sm text-muted">{about}</div>}
            </div>
            <Radix.Close asChild>
              <IconButton label="Close">
                <X aria-hidden className="size-4" />
              </IconButton>
            </Radix.Close>
          </div>
          <div className="min-h-0 overflow-y-auto px-5 pt-1 pb-5">{children}</div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
