import type { ReplicaFailure } from "../../core/reconcile-backoff.ts";
import type { ContainerDocument } from "./engine-types.ts";

const longestMessage = 400;
const watchdogLine = /^watchdog: /;
/** What it says when it ends itself. */
const lastWords = /^watchdog: ((?:Cannot|The process) .*)$/;

/** Why a container ended, from what the engine says of it and the last lines it wrote. */
export function endOf(id: string, container: ContainerDocument, lines: readonly string[]): ReplicaFailure {
  const { OOMKilled: outOfMemory, ExitCode: code, Error: words } = container.State;
  const written = lines.map((line) => line.trim()).filter((line) => line !== "");
  const [, why] = lastWords.exec(written.at(-1) ?? "") ?? [];
  const said = written.findLast((line) => !watchdogLine.test(line));
  const quoted = said === undefined ? "" : `; it said last: ${said}`;
  const failed = (reason: string, sentence: string): ReplicaFailure => ({
    reason,
    message: (sentence + quoted).slice(0, longestMessage),
  });
  if (outOfMemory && code !== 0) {
    const limit = container.HostConfig.Memory;
    const most = limit === 0 ? "than there is" : `than its limit of ${formatBytes(limit)}`;
    return failed("OOMKilled", `Replica ${id} was killed: it used more memory ${most}`);
  }
  if (why !== undefined) return failed(why.startsWith("Cannot run the function") ? "CannotRun" : "Error", why);
  return failed("Error", `Replica ${id} ended with code ${code}${words === "" ? "" : `: ${words}`}`);
}

function formatBytes(bytes: number): string {
  const mebibytes = bytes / 1_048_576;
  return Number.isInteger(mebibytes) ? `${mebibytes} MiB` : `${bytes} bytes`;
}
