import { join } from "node:path";

import type { FunctionRef } from "../../../../core/functions/function-ref.ts";

/** Bytes of one log file; a replica has two, the present one and the one before. */
export const logFileSize = 10 * 1_048_576;

/** Holds the logs of a function's replicas. */
export function logDirectory(logs: string, { namespace, name }: FunctionRef): string {
  return join(logs, namespace, name);
}

/** The file that was full before the present one. */
export function olderLog(path: string): string {
  return `${path}.1`;
}

/** The replica a file in a function's log directory belongs to; for a moment it may have none but the older file. */
export function replicaOfLog(fileName: string): string {
  return fileName.split(".", 1)[0] ?? fileName;
}
