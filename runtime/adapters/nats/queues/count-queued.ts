import { Kvm } from "@nats-io/kv";

import type { CallEntry } from "../../../core/calls/call-entry.ts";
import type { NatsLink } from "../link/nats-link.ts";
import { bucket } from "../stream-names.ts";

/** Number of records of `queue` in state `queued` or `waiting`. Reads all records; only for the queue-doctor. */
export async function countQueued(link: NatsLink, queue: string): Promise<number> {
  const kv = await new Kvm(link.js).open(bucket.calls);
  let count = 0;
  for await (const entry of await kv.history({ key: ">" })) {
    if (entry.operation !== "PUT") continue;
    const record = entry.json<CallEntry>();
    if (record.queue === queue && (record.state === "queued" || record.state === "waiting")) count++;
  }
  return count;
}
