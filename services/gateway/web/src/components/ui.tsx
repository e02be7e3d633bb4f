// The parts that every page is made of. Each has one look per meaning, in both themes.
import { type ComponentProps, type ReactNode, useId } from "react";
import { cx } from "@/lib/cx";

export type Tone = "neutral" | "accent" | "ok" | "warn" | "danger" | "info";

const TINTS: Record<Tone, string> = {
  neutral: "bg-hover text-muted",
  accent: "bg-accent-tint text-accent-ink",
  ok: "bg-ok-tint text-ok",
  warn: "bg-warn-tint text-warn",
  danger: "bg-danger-tint text-danger",
  info: "bg-info-tint text-info",
};

const LOOKS = {
  primary: "bg-accent text-white hover:bg-accent-strong border-transparent shadow-sm",
  secondary: "bg-surface text-ink border-line hover:bg-hover shadow-sm",
  quiet: "bg-transparent text-muted border-transparent hover:bg-hover hover:text-ink",
  danger: "bg-surface text-danger border-line hover:bg-danger-tint shadow-sm",
};

interface ButtonProps extends ComponentProps<"button"> {
  look?: keyof typeof LOOKS;
  size?: "small" | "medium";
  busy?: boolean;
}

export function Button({ look = "secondary", size = "medium", busy = false, className, children, disabled, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      disabled={disabled ?? busy}
      aria-busy={busy || undefined}
      className={cx(
        "inline-flex shrink-0 items-center justify-center gap-1.5 rounded-lg border font-medium whitespace-nowrap transition-colors disabled:opacity-55",
        size === "small" ? "h-7 px-2.5 text-sm" : "h-8.5 px-3 text-base",
        LOOKS[look],
        className,
      )}
      {...rest}
    >
      {busy && <Spinner />}
      {children}
    </button>
  );
}

/** A button that shows only an icon; `label` is its accessible name. */
export function IconButton({ label, className, children, ...rest }: ComponentProps<"button"> & { label: string }) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      className={cx(
        "inline-flex size-8 shrink-0 items-center justify-center rounded-lg text-muted transition-colors hover:bg-hover hover:text-ink disabled:opacity-50",
        className,
      )}
      {...rest}
    >
      {children}
    </button>
  );
}

export function Badge({ tone = "neutral", children, className }: { tone?: Tone; children: ReactNode; className?: string }) {
  return (
    <span className={cx("inline-flex h-5 shrink-0 items-center gap-1 rounded-md px-1.5 text-xs font-medium whitespace-nowrap", TINTS[tone], className)}>
      {children}
    </span>
  );
}

export function Card({ className, children, ...rest }: ComponentProps<"section">) {
  return (
    <section className={cx("rounded-xl border border-line bg-surface", className)} {...rest}>
      {children}
    </section>
  );
}

export function Spinner({ className }: { className?: string }) {
  return (
    <svg viewBox="0 0 16 16" aria-hidden className={cx("size-3.5 animate-spin", className)}>
      <circle cx="8" cy="8" r="6" fill="none" stroke="currentColor" strokeOpacity="0.25" strokeWidth="2" />
      <path d="M14 8a6 6 0 0 0-6-6" fill="none" stroke="currentColor" strokeWidth="2" strokeLinecap="round" />
    </svg>
  );
}

export function Skeleton({ className }: { className?: string }) {
  return <div aria-hidden className={cx("animate-breathe rounded-md bg-hover", className)} />;
}

export function Kbd({ children }: { children: ReactNode }) {
  return <kbd className="inline-flex h-5 min-w-5 items-center justify-center rounded border border-line bg-sunken px-1 font-sans text-xs text-muted">{children}</kbd>;
}

const INPUT =
  "w-full rounded-lg border border-line-strong/60 bg-surface px-3 text-base text-ink placeholder:text-muted focus-visible:outline-offset-0";

interface FieldProps {
  label: string;
  hint?: ReactNode;
  error?: string | null;
  /** Show the label to screen readers only. */
  quiet?: boolean;
}

/** A labelled input. */
export function TextField({ label, hint, error, quiet, className, ...rest }: ComponentProps<"input"> & FieldProps) {
  const id = useId();
  return (
    <div className={cx("flex flex-col gap-1", className)}>
      <Label id={id} quiet={quiet} text={label} />
      <input id={id} aria-invalid={error ? true : undefined} aria-describedby={`${id}-hint`} className={cx(INPUT, "h-9")} {...rest} />
      <Hint id={id} hint={hint} error={error} />
    </div>
  );
}

/** A labelled text of several lines. */
export function TextArea({ label, hint, error, quiet, className, ...rest }: ComponentProps<"textarea"> & FieldProps) {
  const id = useId();
  return (
    <div className={cx("flex flex-col gap-1", className)}>
      <Label id={id} quiet={quiet} text={label} />
      <textarea id={id} aria-invalid={error ? true : undefined} aria-describedby={`${id}-hint`} className={cx(INPUT, "py-2")} {...rest} />
      <Hint id={id} hint={hint} error={error} />
    </div>
  );
}

/** A labelled choice. */
export function SelectField({ label, quiet, className, children, ...rest }: ComponentProps<"select"> & FieldProps) {
  const id = useId();
  return (
    <div className={cx("flex flex-col gap-1", className)}>
      <Label id={id} quiet={quiet} text={label} />
      <select id={id} className={cx(INPUT, "h-9 pr-8")} {...rest}>
        {children}
      </select>
    </div>
  );
}

function Label({ id, quiet, text }: { id: string; quiet: boolean | undefined; text: string }) {
  return (
    <label htmlFor={id} className={quiet ? "sr-only" : "text-sm font-medium"}>
      {text}
    </label>
  );
}

function Hint({ id, hint, error }: { id: string; hint: ReactNode; error: string | null | undefined }) {
  if (!hint && !error) return null;
  return (
    <p id={`${id}-hint`} className={cx("text-sm", error ? "text-danger" : "text-muted")} role={error ? "alert" : undefined}>
      {error ?? hint}
    </p>
  );
}

/** The head of a page: its name, what it is for, and its actions. */
export function PageHead({ title, about, children }: { title: string; about?: ReactNode; children?: ReactNode }) {
  return (
    <header className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 pt-5 pb-3 md:px-6">
      <div className="min-w-0 flex-1 basis-56">
        <h1 className="text-xl font-semibold tracking-tight">{title}</h1>
        {about && <p className="text-sm text-muted">{about}</p>}
      </div>
      {children}
    </header>
  );
}

/** A page with a head and a body that scrolls. */
export function Page({ title, about, actions, children }: { title: string; about?: ReactNode; actions?: ReactNode; children: ReactNode }) {
  return (
    <div className="flex h-full min-h-0 flex-col">
      <PageHead title={title} about={about}>
        {actions}
      </PageHead>
      {/* A region that scrolls must be reachable by keyboard. */}
      <div className="min-h-0 flex-1 overflow-y-auto px-4 pb-8 md:px-6" tabIndex={0} role="region" aria-label={title}>
        <div className="max-w-6xl">{children}</div>
      </div>
    </div>
  );
}

interface ChoiceProps<T extends string> {
  label: string;
  options: readonly { value: T; text: string }[];
  value: T;
  onChange: (value: T) => void;
}

/** A small choice of which exactly one holds. */
export function Choice<T extends string>({ label, options, value, onChange }: ChoiceProps<T>) {
  const name = useId();
  return (
    <fieldset className="flex rounded-lg border border-line bg-sunken p-px text-sm whitespace-nowrap">
      <legend className="sr-only">{label}</legend>
      {options.map((option) => (
        <label key={option.value} className={cx("cursor-pointer rounded-md px-2 py-0.5 font-medium text-muted has-focus-visible:outline-2", option.value === value && "bg-surface text-ink shadow-sm dark:bg-hover")}>
          <input type="radio" name={name} className="sr-only" checked={option.value === value} onChange={() => { onChange(option.value); }} />
          {option.text}
        </label>
      ))}
    </fieldset>
  );
}
