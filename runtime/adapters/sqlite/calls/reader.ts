import { flushCompileCache } from "node:module";
import { DatabaseSync } from "node:sqlite";

import type { CallListQuery, RollupQuery } from "../../../core/ports/call-history.ts";
import { SqlCallHistory } from "../../sql/calls/sql-call-history.ts";
import { isDamage } from "../database/sqlite-damage.ts";
import { SqliteReader } from "../database/sqlite-reader.ts";
import type { ReaderMessage, ReadRequest } from "./reader-messages.ts";

/**
 * Program that reads the file of its first argument for the process that started it, one request after another. It
 * ends with that process, or is killed by it.
 */
const [, , file = ""] = process.argv;

// They are sent to whole process groups: the process that started this one may still need it until its own end.
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => {});
// Otherwise it is written at the exit, which a process that is killed does not reach.
flushCompileCache();
try {
  const database = new DatabaseSync(file, { readOnly: true, timeout: 500 });
  database.exec("PRAGMA cache_size = -8192");
  serve(database);
} catch (err) {
  say({ kind: "unusable", ...failureOf(err) });
  process.disconnect?.();
}

function serve(database: DatabaseSync): void {
  const history = new SqlCallHistory(new SqliteReader(database));
  process.on("message", (request: ReadRequest) => {
    void answer(history, request).then(say);
  });
  process.on("disconnect", () => database.close());
  say({ kind: "ready" });
}

async function answer(history: SqlCallHistory, request: ReadRequest): Promise<ReaderMessage> {
  try {
    return { kind: "result", value: await read(history, request) };
  } catch (err) {
    return { kind: "failure", ...failureOf(err) };
  }
}

async function read(history: SqlCallHistory, { read: name, argument }: ReadRequest): Promise<unknown> {
  switch (name) {
    case "list":
      return await history.list(argument as CallListQuery);
    case "get":
    case "replaysOf":
      return await history[name](argument as string);
    case "functions":
    case "gaps":
      return await history[name]();
    case "rollups":
      return await history.rollups(argument as RollupQuery);
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
