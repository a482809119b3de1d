import { printable } from "../printable.ts";
import type { ReplicaFailure } from "./reconcile-backoff.ts";
import { lastErrorLine } from "./last-error-line.ts";

/** What an engine reports of a container that ended. */
export interface ReplicaEnd {
  readonly outOfMemory: boolean;
  readonly code: number;
  /** The engine's own message, empty if there is none. */
  readonly words: string;
  /** Bytes; 0 = none. */
  readonly memoryLimit: number;
  /** Whether `memoryLimit` is the default for functions that state none. */
  readonly isDefaultLimit: boolean;
}

const longestMessage = 400;
const watchdogLine = /^watchdog: /;
/** The last line of a watchdog that ends itself. */
const lastWords = /^watchdog: ((?:Cannot|The process) .*)$/;

/** Why a replica ended, from what the engine reports and the last lines that it wrote. */
export function replicaEndFailure(id: string, end: ReplicaEnd, lines: readonly string[]): ReplicaFailure {
  const written = lines.map((line) => line.trim()).filter((line) => line !== "");
  const [, why] = lastWords.exec(written.at(-1) ?? "") ?? [];
  const failed = (reason: string, sentence: string): ReplicaFailure => ({
    reason,
    message: withLastWords(sentence, lines),
  });
  if (end.outOfMemory && end.code !== 0) {
    const limit = `than its limit of ${formatBytes(end.memoryLimit)}`;
    const set = end.isDefaultLimit ? `${limit}, which function_memory sets as the function states none` : limit;
    const most = end.memoryLimit === 0 ? "than there is" : set;
    return failed("OOMKilled", `Replica ${id} was killed: it used more memory ${most}`);
  }
  if (why !== undefined) return failed(why.startsWith("Cannot run the function") ? "CannotRun" : "Error", why);
  return failed("Error", `Replica ${id} ended with code ${end.code}${end.words === "" ? "" : `: ${end.words}`}`);
}

/** `sentence`, followed by the function's own last error line, if there is one; at most 400 characters. */
export function withLastWords(sentence: string, lines: readonly string[]): string {
  const said = lastErrorLine(lines.filter((line) => !watchdogLine.test(line.trim())));
  const quoted = said === undefined ? "" : `; it said${said.isLast ? " last" : ""}: ${printable(said.text)}`;
  return (sentence + quoted).slice(0, longestMessage);
}

function formatBytes(bytes: number): string {
  const mebibytes = bytes / 1_048_576;
  return Number.isInteger(mebibytes) ? `${mebibytes} MiB` : `${bytes} bytes`;
}
