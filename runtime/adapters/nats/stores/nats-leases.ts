import { PlatformError } from "../../../api/platform-error.ts";
import type { Leases } from "../../../core/ports/leases.ts";
import { isRevisionConflict, publishDurably } from "../link/durable-publish.ts";
import type { NatsLink } from "../link/nats-link.ts";
import { readLast, bucketWriteHeaders, type LastMessage } from "../link/read-last.ts";
import { bucket, bucketStream, keySubject } from "../stream-names.ts";

const budget = 3_000;
const stream = bucketStream(bucket.queues);

/**
 * Leases as keys of bucket `queues` that the broker expires: a key exists exactly as long as its lease lasts, so only
 * the broker's clock counts. Durations are rounded up to whole seconds.
 */
export class NatsLeases implements Leases {
  readonly #link: NatsLink;

  constructor(link: NatsLink) {
    this.#link = link;
  }

  async acquire(name: string, holder: string, duration: number): Promise<boolean> {
    const last = await readLast(this.#link, stream, keyOf(name));
    if (isHeld(last) && textOf(last) !== holder) return false;
    const headers = bucketWriteHeaders(duration, last?.sequence ?? 0);
    const outcome = await publishDurably(
      this.#link,
      keyOf(name),
      Buffer.from(holder),
      headers,
      performance.now() + budget,
    );
    switch (outcome.kind) {
      case "stored":
        return true;
      case "refused":
        if (isRevisionConflict(outcome.refusal.code)) return false;
        throw cannotAcquire(name, outcome.refusal.description);
      case "not-sent":
      case "unknown":
        throw cannotAcquire(name, "the broker does not answer", outcome.cause);
      default:
        return outcome satisfies never;
    }
  }

  async release(name: string, holder: string): Promise<void> {
    const last = await readLast(this.#link, stream, keyOf(name));
    if (!isHeld(last) || textOf(last) !== holder) return;
    const headers = bucketWriteHeaders(1_000, last.sequence);
    headers.add("KV-Operation", "DEL");
    await publishDurably(this.#link, keyOf(name), new Uint8Array(0), headers, performance.now() + budget);
  }
}

function keyOf(name: string): string {
  return keySubject(bucket.queues, `lease.${name}`);
}

function cannotAcquire(name: string, why: string, cause?: unknown): PlatformError {
  return new PlatformError("queue_unavailable", `Cannot acquire lease "${name}": ${why}`, { cause });
}

function isHeld(last: LastMessage | undefined): last is LastMessage {
  return last !== undefined && !last.headers.has("KV-Operation") && !last.headers.has("Nats-Marker-Reason");
}

function textOf(last: LastMessage): string {
  return Buffer.from(last.body).toString("utf8");
}
