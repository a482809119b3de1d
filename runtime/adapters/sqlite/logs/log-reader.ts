import type { FunctionRef } from "../../../core/functions/function-ref.ts";
import type { KeptLineQuery } from "../../../core/ports/kept-logs.ts";
import { SqlKeptLogs } from "../../sql/logs/sql-kept-logs.ts";
import type { LogReadRequest } from "../calls/reader-messages.ts";
import { serveReads } from "../database/serve-reads.ts";

/** Program that reads kept logs in the file of its first argument. */
serveReads((reader) => {
  const logs = new SqlKeptLogs(reader);
  return async (request) => {
    const { read: name, argument } = request as LogReadRequest;
    switch (name) {
      case "lines":
        return await logs.lines(argument as KeptLineQuery);
      case "lineReplicas":
        return await logs.lineReplicas(argument as FunctionRef);
      default:
        return name satisfies never;
    }
  };
});
