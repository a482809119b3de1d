import type { CallListQuery, RollupQuery } from "../../../core/ports/call-history.ts";
import { SqlCallHistory } from "../../sql/calls/sql-call-history.ts";
import { serveReads } from "../database/serve-reads.ts";
import type { ReadRequest } from "./reader-messages.ts";

/** Program that reads the history of calls in the file of its first argument. */
serveReads((reader) => {
  const history = new SqlCallHistory(reader);
  return async (request) => {
    const { read: name, argument } = request as ReadRequest;
    switch (name) {
      case "list":
        return await history.list(argument as CallListQuery);
      case "get":
      case "replaysOf":
        return await history[name](argument as string);
      case "rollups":
        return await history.rollups(argument as RollupQuery);
      default:
        return name satisfies never;
    }
  };
});
