import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";

/** What a sender may conclude from a response. */
export type AnswerClass = "accepted" | "refused" | "unknown";

/** One call as its sender saw it. Times are Unix milliseconds of this machine. */
export interface Sent {
  readonly kind: "sent";
  readonly id: string;
  readonly sequence: number;
  readonly class: AnswerClass;
  readonly sentAt: number;
  readonly answeredAt: number;
  readonly callback: boolean;
  /** Absent if no response came. */
  readonly status?: number;
  readonly error?: string;
}

/** A function began a run. `run` is unique among all runs, to find its end. */
export interface RunStarted {
  readonly kind: "run-started";
  readonly run: string;
  readonly id: string;
  readonly at: number;
  /** Who made the request, as far as the function can tell. */
  readonly worker?: string;
  readonly attempt?: number;
  readonly retry?: number;
}

/** A function responded, or its caller disconnected (no status). */
export interface RunEnded {
  readonly kind: "run-ended";
  readonly run: string;
  readonly at: number;
  readonly status?: number;
}

/** A callback reached its receiver. */
export interface CallbackReceived {
  readonly kind: "callback";
  readonly id: string;
  readonly at: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** SHA-256, hex. */
  readonly bodyHash: string;
  readonly bodySize: number;
  /** The receiver's status; absent if it hung or reset. */
  readonly answered?: number;
}

export type LedgerLine = Sent | RunStarted | RunEnded | CallbackReceived;

/** One writer's own file; the operating system has a line when `append` returns. */
export interface LedgerWriter {
  append(line: LedgerLine): void;
  close(): void;
}

/** Opens the file of `writer` in `directory`; each name is used by one process at a time. */
export function openLedger(directory: string, writer: string): LedgerWriter {
  mkdirSync(directory, { recursive: true });
  const file = openSync(join(directory, `${writer}.ndjson`), "a", 0o666);
  let open = true;
  return {
    append: (line) => {
      if (open) writeSync(file, `${JSON.stringify(line)}\n`);
    },
    close: () => {
      if (open) closeSync(file);
      open = false;
    },
  };
}

/** A run with its start and end; `endedAt` is absent if the function, or its process, did not come to the end. */
export interface Run extends Omit<RunStarted, "kind"> {
  readonly endedAt?: number;
  readonly status?: number;
}

/** Everything that the writers wrote, each kind in order of time. */
export interface Account {
  readonly sent: readonly Sent[];
  readonly runs: readonly Run[];
  readonly callbacks: readonly CallbackReceived[];
}

/** Reads every file of `directory`; a last line that a killed writer left unfinished is skipped. */
export function readLedger(directory: string): Account {
  const files = readdirSync(directory).filter((name) => name.endsWith(".ndjson"));
  return accountOf(files.flatMap((name) => linesOf(join(directory, name))));
}

/** The account of `lines`, which may be in any order. */
export function accountOf(lines: readonly LedgerLine[]): Account {
  const ends = new Map<string, RunEnded>();
  for (const line of lines) if (line.kind === "run-ended") ends.set(line.run, line);
  const runs = lines
    .filter((line) => line.kind === "run-started")
    .map(({ kind: _kind, ...start }): Run => {
      const end = ends.get(start.run);
      if (end === undefined) return start;
      return { ...start, endedAt: end.at, ...(end.status === undefined ? {} : { status: end.status }) };
    });
  return {
    sent: lines.filter((line) => line.kind === "sent").toSorted((a, b) => a.sentAt - b.sentAt),
    runs: runs.toSorted((a, b) => a.at - b.at),
    callbacks: lines.filter((line) => line.kind === "callback").toSorted((a, b) => a.at - b.at),
  };
}

function linesOf(path: string): LedgerLine[] {
  const texts = readFileSync(path, "utf8").split("\n");
  const last = texts.pop() ?? "";
  const lines = texts.filter((text) => text !== "").map((text): LedgerLine => JSON.parse(text));
  if (last !== "") {
    try {
      lines.push(JSON.parse(last));
    } catch {
      // Its writer was killed in the middle of the line.
    }
  }
  return lines;
}
