import { join } from "node:path";

import type { FunctionRef } from "../../../../core/functions/function-ref.ts";

/** Bytes of one log file; a replica has two, the current one and the one before. */
export const logFileSize = 10 * 1_048_576;

/** Directory of the logs of a function's replicas. */
export function logDirectory(logs: string, { namespace, name }: FunctionRef): string {
  return join(logs, namespace, name);
}

/** The full file before the current one, which is at `path`. */
export function olderLog(path: string): string {
  return `${path}.1`;
}

/**
 * The replica that a file in a function's log directory belongs to; during a rotation it may have only the older file.
 */
export function replicaOfLog(fileName: string): string {
  return fileName.split(".", 1)[0] ?? fileName;
}
