import { flushCompileCache } from "node:module";
import { DatabaseSync } from "node:sqlite";

import type { ReaderMessage } from "../calls/reader-messages.ts";
import { isDamage } from "./sqlite-damage.ts";
import { SqliteReader } from "./sqlite-reader.ts";

/**
 * Serves the reads of `ReaderProcess`: reads the file of the program's first argument for the process that started
 * it. The program ends with that process, or is killed by it. `open` returns what answers a request.
 */
export function serveReads(open: (reader: SqliteReader) => (request: unknown) => Promise<unknown>): void {
  const [, , file = ""] = process.argv;
  // They are sent to whole process groups: the process that started this one may still need it until its own end.
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => {});
  // Otherwise it is written at the exit, which a process that is killed does not reach.
  flushCompileCache();
  try {
    const database = new DatabaseSync(file, { readOnly: true, timeout: 500 });
    database.exec("PRAGMA cache_size = -4096");
    const read = open(new SqliteReader(database));
    process.on("message", (request: unknown) => {
      void read(request).then(
        (value) => say({ kind: "result", value }),
        (err: unknown) => say({ kind: "failure", ...failureOf(err) }),
      );
    });
    process.on("disconnect", () => database.close());
    say({ kind: "ready" });
  } catch (err) {
    say({ kind: "unusable", ...failureOf(err) });
    process.disconnect?.();
  }
}

function say(message: ReaderMessage): void {
  // When the other process is gone this one ends, too.
  process.send?.(message, () => {});
}

function failureOf(err: unknown): { readonly reason: string; readonly isDamage: boolean } {
  return { reason: err instanceof Error ? err.message : String(err), isDamage: isDamage(err) };
}
