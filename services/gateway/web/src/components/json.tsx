/** A value as indented JSON. */
export function Json({ value, label }: { value: unknown; label: string }) {
  return (
    <pre
      // A region that scrolls must be reachable by keyboard.
      tabIndex={0}
      role="region"
      aria-label={label}
      className="max-h-72 overflow-auto rounded-lg border border-line bg-sunken p-2.5 font-mono text-xs whitespace-pre-wrap [overflow-wrap:anywhere]"
    >
      {JSON.stringify(value, null, 2)}
    </pre>
  );
}
