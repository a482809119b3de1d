import { flushCompileCache } from "node:module";
import { DatabaseSync } from "node:sqlite";

import type { FunctionRef } from "../../../core/functions/function-ref.ts";
import type { KeptLineQuery } from "../../../core/ports/kept-logs.ts";
import { SqlKeptLogs } from "../../sql/logs/sql-kept-logs.ts";
import type { LogReadRequest, ReaderMessage } from "../calls/reader-messages.ts";
import { isDamage } from "../database/sqlite-damage.ts";
import { SqliteReader } from "../database/sqlite-reader.ts";

/** Program that reads kept logs in the file of its first argument, as `calls/reader.ts` reads calls. */
const [, , file = ""] = process.argv;

// Of a terminal's Ctrl-C the process that started it decides what it means.
process.on("SIGINT", () => {});
// Otherwise it is written at the exit, which a process that is killed does not reach.
flushCompileCache();
try {
  const database = new DatabaseSync(file, { readOnly: true, timeout: 500 });
  database.exec("PRAGMA cache_size = -8192");
  serveLogs(new SqlKeptLogs(new SqliteReader(database)));
  process.on("disconnect", () => database.close());
} catch (err) {
  say({ kind: "unusable", ...failureOf(err) });
  process.disconnect?.();
}

function serveLogs(logs: SqlKeptLogs): void {
  process.on("message", (request: LogReadRequest) => {
    void read(logs, request).then(
      (value) => say({ kind: "result", value }),
      (err: unknown) => say({ kind: "failure", ...failureOf(err) }),
    );
  });
  say({ kind: "ready" });
}

async function read(logs: SqlKeptLogs, { read: name, argument }: LogReadRequest): Promise<unknown> {
  switch (name) {
    case "lines":
      return await logs.lines(argument as KeptLineQuery);
    case "lineReplicas":
      return await logs.lineReplicas(argument as FunctionRef);
    default:
      return name satisfies never;
  }
}

function say(message: ReaderMessage): void {
  process.send?.(message);
}

function failureOf(err: unknown): { readonly reason: string; readonly isDamage: boolean } {
  return { reason: err instanceof Error ? err.message : String(err), isDamage: isDamage(err) };
}
