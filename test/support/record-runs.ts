import { randomUUID } from "node:crypto";

import type { FunctionHandler } from "./function-server.ts";
import type { LedgerWriter } from "./ledger.ts";
import { preciseNow } from "./precise-now.ts";

/** A handler that records the start and the end of each run in `ledger` and leaves the response to `handler`. */
export function recordRuns(ledger: LedgerWriter, handler: FunctionHandler): FunctionHandler {
  return (request, response, body) => {
    const run = randomUUID();
    const text = (name: string): string | undefined => request.headers[name]?.toString();
    const attempt = Number(text("x-call-attempt"));
    const retry = Number(text("x-retry"));
    ledger.append({
      kind: "run-started",
      run,
      id: text("x-call-id") ?? "",
      at: preciseNow(),
      worker: `${text("user-agent") ?? "unknown"} from port ${request.socket.remotePort ?? 0}`,
      ...(Number.isInteger(attempt) ? { attempt } : {}),
      ...(Number.isInteger(retry) ? { retry } : {}),
    });
    response.on("close", () => {
      const outcome = response.writableFinished ? { status: response.statusCode } : {};
      ledger.append({ kind: "run-ended", run, at: preciseNow(), ...outcome });
    });
    handler(request, response, body);
  };
}
