import { PlatformError } from "../../api/platform-error.ts";
import type { QueuedCall } from "../../core/calls/call.ts";
import { formatRef } from "../../core/functions/function-ref.ts";
import { safeRequest } from "../../core/history/requests/safe-request.ts";
import type { WorkerParts } from "../worker-parts.ts";

type KeepParts = Pick<WorkerParts, "table" | "requests" | "requestTtl" | "metrics" | "queue">;

/**
 * Keeps the request of an ended call, if its function or the platform asks for that, to be shown and replayed. One try,
 * whose failure is counted: nothing depends on it.
 */
export async function keepRequest(parts: KeepParts, call: QueuedCall): Promise<void> {
  const ttl = keptFor(parts, call);
  if (ttl === 0 || (await parts.requests.put(safeRequest(call), ttl))) return;
  parts.metrics.droppedRequests.inc({ queue_name: parts.queue.name });
}

/** Milliseconds; those of a function that is gone are not kept, whatever it had asked for. */
function keptFor({ table, requestTtl }: KeepParts, call: QueuedCall): number {
  const limits = table.findKey(formatRef(call.function))?.facts.limits;
  if (requestTtl === undefined || limits === undefined || limits instanceof PlatformError) return 0;
  return limits.historyBodies ?? requestTtl;
}
