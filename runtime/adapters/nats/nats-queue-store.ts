import { JetStreamApiError } from "@nats-io/jetstream";

import { PlatformError } from "../../api/platform-error.ts";
import type { QueueDeclaration } from "../../core/ports/queue-catalog.ts";
import type { QueueStore } from "../../core/ports/queue-store.ts";
import { consumerConfig } from "./consumers.ts";
import type { NatsLink } from "./nats-link.ts";
import { callbacksConsumer, callbackStream, queueStream, workersConsumer } from "./stream-names.ts";
import { wantedStreams, type StreamFacts, type WantedStream } from "./streams.ts";

const streamNotFound = 10059;
const consumerNotFound = 10014;

/** Streams, buckets and consumers as the queue needs them. */
export class NatsQueueStore implements QueueStore {
  readonly #link: NatsLink;
  readonly #facts: StreamFacts;

  constructor(link: NatsLink, facts: StreamFacts) {
    this.#link = link;
    this.#facts = facts;
  }

  provision(queues: readonly QueueDeclaration[]): Promise<void> {
    return this.#bring(queues, async (wanted) => {
      await this.#link.jsm.streams.add(wanted);
    });
  }

  async maintain(queues: readonly QueueDeclaration[]): Promise<void> {
    const missing: string[] = [];
    await this.#bring(queues, async ({ name }) => {
      missing.push(name);
    });
    if (missing.length === 0) return;
    const state = `${missing.join(", ")} ${missing.length === 1 ? "is" : "are"} missing, with all that was in there`;
    throw new PlatformError(
      "queue_unavailable",
      `Cannot look after the queue: ${state}; the next start makes it anew, empty`,
    );
  }

  /** Updates every stream and consumer that differs; `onMissing` decides about streams that are not there. */
  async #bring(queues: readonly QueueDeclaration[], onMissing: (wanted: WantedStream) => Promise<void>): Promise<void> {
    const callbackWait = queues[0]?.ackWait ?? 60_000;
    try {
      for (const wanted of wantedStreams(this.#facts, queues)) {
        if (!(await this.#updateStream(wanted))) await onMissing(wanted);
      }
      for (const queue of queues) {
        await this.#provisionConsumer(queueStream(queue.name), workersConsumer, queue.ackWait);
      }
      await this.#provisionConsumer(callbackStream, callbacksConsumer, callbackWait);
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new PlatformError("queue_unavailable", `Cannot provision the queue: ${why}`, { cause });
    }
  }

  /** False when the stream is not there. */
  async #updateStream(wanted: WantedStream): Promise<boolean> {
    const { streams } = this.#link.jsm;
    try {
      const { config } = await streams.info(wanted.name);
      const differs = Object.entries(wanted).some(([key, value]) => !sameSetting(Reflect.get(config, key), value));
      if (differs) await streams.update(wanted.name, wanted);
      return true;
    } catch (err) {
      if (isApiError(err, streamNotFound)) return false;
      throw err;
    }
  }

  async #provisionConsumer(stream: string, name: string, ackWait: number): Promise<void> {
    const { consumers } = this.#link.jsm;
    const wanted = consumerConfig(name, ackWait);
    try {
      const { config } = await consumers.info(stream, name);
      const differs = Object.entries(wanted).some(([key, value]) => !sameSetting(Reflect.get(config, key), value));
      if (differs)
        await consumers.update(stream, name, { ack_wait: ackWait * 1_000_000, max_ack_pending: -1, max_deliver: -1 });
    } catch (err) {
      if (isApiError(err, streamNotFound)) return;
      if (!isApiError(err, consumerNotFound)) throw err;
      await consumers.add(stream, wanted);
    }
  }
}

function isApiError(err: unknown, code: number): boolean {
  return err instanceof JetStreamApiError && err.code === code;
}

/** The broker leaves out false and empty settings. */
function sameSetting(is: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) return JSON.stringify(is) === JSON.stringify(wanted);
  return (is ?? false) === (wanted ?? false);
}
