// The verifier of an audit export (docs: libs/audit/export.py), as `suma audit verify` does it, in the browser.
//
// Lines are canonical JSON: members sorted, no blanks. A record's bytes are therefore a part of its line, and are
// digested as they came, not as JavaScript would write them again.

import { answered, Problem } from "@/api/problem";

export interface Verdict {
  ok: boolean;
  /** Records whose links are consistent. */
  count: number;
  /** The position of the first record at fault; null if none is. */
  firstBad: number | null;
  problem: string;
  signedBy: string[];
  /** False where this browser cannot check Ed25519 signatures; then only the links are proved. */
  signatures: boolean;
}

interface Header { kind: "header"; format: string; tenant: string; export: string; genesis: string; keys: Record<string, string> }
interface RecordLine { kind: "record"; position: number; link: string }
interface Checkpoint { kind: "checkpoint"; closes: string | null; count: number; head: string; key_id: string; signature: string; tenant: string; time: string }
type Line = Header | RecordLine | Checkpoint;

class Bad extends Error {
  readonly position: number | null;

  constructor(position: number | null, problem: string) {
    super(problem);
    this.position = position;
  }
}

const INSECURE = new Problem(-1, "INSECURE_CONTEXT", "A browser can verify only over https or on localhost: open Suma there, or use `suma audit verify`.");
const FORMAT = "suma.audit.v1";
const encoder = new TextEncoder();

/** Verify an export, given as its lines. Report progress after each thousand records. Throws INSECURE. */
export async function verifyExport(lines: AsyncIterable<string>, onProgress?: (count: number) => void): Promise<Verdict> {
  // Browsers hide it on plain http; the types do not say so.
  if ((crypto.subtle as SubtleCrypto | undefined) === undefined) throw INSECURE;
  const check = new Check();
  try {
    for await (const line of lines) {
      await check.line(line);
      if (check.count % 1000 === 0) onProgress?.(check.count);
    }
    check.end();
  } catch (error) {
    if (!(error instanceof Bad)) throw error;
    return check.verdict(false, error.position, error.message);
  }
  return check.verdict(true, null, "");
}

class Check {
  count = 0;
  private header: Header | null = null;
  private head = "";
  private sealed = 0;
  private closed = false;
  private signatures = true;
  private readonly signers = new Set<string>();

  async line(raw: string): Promise<void> {
    const place = this.header ? this.count + 1 : null;
    const line = parsed(raw, place);
    if (this.closed) throw new Bad(place, "The export continues after its last checkpoint.");
    if (line.kind === "header") await this.begin(line);
    else if (!this.header) throw new Bad(null, "The first line is not a header.");
    else if (line.kind === "record") await this.record(line, raw);
    else await this.checkpoint(line, this.header);
  }

  end(): void {
    if (!this.closed) throw new Bad(null, "The export is cut: its closing checkpoint is missing.");
  }

  verdict(ok: boolean, firstBad: number | null, problem: string): Verdict {
    return { ok, count: this.count, firstBad, problem, signedBy: [...this.signers].sort(), signatures: this.signatures };
  }

  private async begin(header: Header): Promise<void> {
    if (this.header) throw new Bad(this.count + 1, "A second header.");
    if (header.format !== FORMAT) throw new Bad(null, `The format is not ${FORMAT}.`);
    const genesis = await sha256(encoder.encode(`${FORMAT}:${header.tenant}`));
    if (header.genesis !== genesis) throw new Bad(null, "The first link is not the tenant's.");
    this.header = header;
    this.head = genesis;
  }

  private async record(line: RecordLine, raw: string): Promise<void> {
    const position = this.count + 1;
    if (line.position !== position) throw new Bad(position, `Record ${position.toString()} is missing or out of order.`);
    const start = raw.indexOf(',"record":');
    if (start < 0 || !raw.endsWith("}")) throw new Bad(position, "The line holds no record.");
    const leaf = await sha256(encoder.encode(raw.slice(start + ',"record":'.length, -1)));
    const link = await sha256(bytesOf(this.head + leaf));
    if (line.link !== link) throw new Bad(position, `Record ${position.toString()} was changed, or one before it.`);
    this.head = link;
    this.count = position;
  }

  private async checkpoint(line: Checkpoint, header: Header): Promise<void> {
    const bad = (problem: string) => new Bad(this.sealed + 1, problem);
    if (line.tenant !== header.tenant) throw bad("A checkpoint is of another tenant.");
    if (line.count !== this.count || line.head !== this.head) throw bad("A signed checkpoint contradicts the records before it.");
    const key = header.keys[line.key_id];
    if (key === undefined) throw bad("A checkpoint is signed with an unknown key.");
    const { closes, count, head, tenant, time } = line;
    const held = await signed(key, line.signature, encoder.encode(JSON.stringify({ closes, count, head, tenant, time })));
    if (held === false) throw bad("A checkpoint's signature is wrong.");
    if (held === null) this.signatures = false;
    this.signers.add(line.key_id);
    this.sealed = this.count;
    if (closes === null) return;
    if (closes !== header.export) throw bad("The closing checkpoint is of another export.");
    this.closed = true;
  }
}

function parsed(raw: string, place: number | null): Line {
  try {
    const line = JSON.parse(raw) as Line;
    if (["header", "record", "checkpoint"].includes(line.kind)) return line;
  } catch {
    // Told below.
  }
  throw new Bad(place, "A line is neither a header, a record nor a checkpoint.");
}

/** Whether the key made the signature; null where the browser has no Ed25519. */
async function signed(key: string, signature: string, payload: Uint8Array<ArrayBuffer>): Promise<boolean | null> {
  let imported: CryptoKey;
  try {
    imported = await crypto.subtle.importKey("raw", bytesOf(key), "Ed25519", false, ["verify"]);
  } catch {
    return null;
  }
  return crypto.subtle.verify("Ed25519", imported, bytesOf(signature), payload);
}

async function sha256(content: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", content));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function bytesOf(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

/** The lines of a stream of bytes, without their ends. */
export async function* linesOf(stream: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await answered(reader.read());
    if (done) break;
    const lines = (rest + value).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  if (rest !== "") yield rest;
}
