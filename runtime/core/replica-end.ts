import type { ReplicaFailure } from "./reconcile-backoff.ts";

/** What an engine says of a container that ended. */
export interface ReplicaEnd {
  readonly outOfMemory: boolean;
  readonly code: number;
  /** Its own words, empty if it has none. */
  readonly words: string;
  /** Bytes; 0 = none. */
  readonly memoryLimit: number;
  /** Whether that is what functions get that state no limit. */
  readonly isDefaultLimit: boolean;
}

const longestMessage = 400;
const watchdogLine = /^watchdog: /;
/** What it says when it ends itself. */
const lastWords = /^watchdog: ((?:Cannot|The process) .*)$/;

/** Why a replica ended, from what the engine says of it and the last lines it wrote. */
export function replicaEndFailure(id: string, end: ReplicaEnd, lines: readonly string[]): ReplicaFailure {
  const written = lines.map((line) => line.trim()).filter((line) => line !== "");
  const [, why] = lastWords.exec(written.at(-1) ?? "") ?? [];
  const said = written.findLast((line) => !watchdogLine.test(line));
  const quoted = said === undefined ? "" : `; it said last: ${said}`;
  const failed = (reason: string, sentence: string): ReplicaFailure => ({
    reason,
    message: (sentence + quoted).slice(0, longestMessage),
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

function formatBytes(bytes: number): string {
  const mebibytes = bytes / 1_048_576;
  return Number.isInteger(mebibytes) ? `${mebibytes} MiB` : `${bytes} bytes`;
}
