import { printable } from "../printable.ts";
import { quote } from "../quote.ts";
import type { ReplicaFailure } from "../replicas/reconcile-backoff.ts";

/** Lines of a command's output that its failure shows, and characters of each. */
const shown = { lines: 8, characters: 200 } as const;

/** Why a folder could not be copied; `state` as in an error sentence. */
export function folderFailure(path: string, state: string): ReplicaFailure {
  return { reason: "FolderUnusable", message: `Cannot run the function from folder ${quote(path)}: ${state}` };
}

/** Why a copy could not be prepared, with the last lines of what was written meanwhile, each on a line of its own. */
export function prepareFailure(state: string, written: readonly string[]): ReplicaFailure {
  const lines = written
    .map((line) => printable(line).trimEnd().slice(0, shown.characters))
    .filter((line) => line !== "");
  const last = lines.slice(-shown.lines);
  const quoted = last.length === 0 ? "" : `; its last lines:\n${last.join("\n")}`;
  return { reason: "PrepareFailed", message: `Cannot prepare the function: ${state}${quoted}` };
}
