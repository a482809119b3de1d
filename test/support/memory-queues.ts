import { MemoryActivity } from "./memory/memory-activity.ts";
import { MemoryCallLedger } from "./memory/memory-call-ledger.ts";
import { MemoryCallQueue } from "./memory/memory-call-queue.ts";
import { MemoryCallbackQueue } from "./memory/memory-callback-queue.ts";
import { MemoryDeadLetters } from "./memory/memory-dead-letters.ts";
import { QueueTable } from "../../runtime/core/queues/queue-table.ts";
import { WorkerSums } from "../../runtime/core/queues/worker-sums.ts";
import type { QueueParts } from "../../runtime/gateway/rest/app-parts.ts";
import { sampleQueue } from "../contract/samples.ts";

/** In-memory parts for the routes of queues: an empty default queue without workers. */
export function memoryQueues(): QueueParts {
  const table = new QueueTable();
  table.observer.set(sampleQueue());
  table.observer.synced();
  const calls = new MemoryCallQueue({ ackWait: 60_000 });
  calls.source("default");
  return {
    table,
    calls,
    states: calls,
    workers: new WorkerSums(new MemoryActivity()),
    letters: new MemoryDeadLetters(),
    place: { edition: "enterprise", home: "machine" },
    ledger: new MemoryCallLedger(),
    callbacks: new MemoryCallbackQueue({ ackWait: 60_000 }),
    retriesOf: () => 10,
  };
}
