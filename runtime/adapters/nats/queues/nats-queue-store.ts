import { PersistMode, type StreamInfo } from "@nats-io/jetstream";

import { PlatformError } from "../../../api/platform-error.ts";
import type { QueueDeclaration } from "../../../core/ports/queue-catalog.ts";
import type { MissingStore, QueueStore, WorkState } from "../../../core/ports/queue-store.ts";
import { CallRecordReader } from "../records/call-record-reader.ts";
import { checkRoom } from "./check-room.ts";
import { consumerChange, consumerConfig } from "./consumers.ts";
import { countQueued } from "./count-queued.ts";
import { consumerNotFound, isApiError, streamNotFound } from "../link/api-errors.ts";
import { isNotReady } from "../link/is-not-ready.ts";
import type { NatsLink } from "../link/nats-link.ts";
import { OverdueEntries } from "./overdue-entries.ts";
import { readLast } from "../link/read-last.ts";
import { rebuildConsumer } from "./rebuild-consumer.ts";
import {
  bucket,
  bucketStream,
  callbacksConsumer,
  callbackStream,
  keySubject,
  queueStream,
  workersConsumer,
} from "../stream-names.ts";
import { wantedStreams, type StreamFacts, type WantedStream } from "../streams.ts";
import { lookAtWork } from "./work-state.ts";

const allCalls = "q.>";

interface FoundStream {
  readonly wanted: WantedStream;
  /** Undefined when it is not there. */
  readonly info: StreamInfo | undefined;
}

/** Bytes by which a stream's limit grows; negative when it shrinks. */
function growth({ wanted, info }: FoundStream): number {
  return (wanted.max_bytes ?? 0) - (info?.config.max_bytes ?? 0);
}

/** Provisions and repairs the streams, buckets and consumers of the queues. */
export class NatsQueueStore implements QueueStore {
  readonly #link: NatsLink;
  readonly #facts: StreamFacts;
  /** Writes what the broker created or changed to its disk. */
  readonly #sync: () => Promise<void>;
  readonly #overdue: OverdueEntries;
  /** By stream. Counted again until two counts agree: a count reads all records, and refused calls have one briefly. */
  readonly #lost = new Map<string, { readonly calls: number; readonly agreed: boolean }>();

  constructor(link: NatsLink, facts: StreamFacts, sync: () => Promise<void> = async () => {}) {
    this.#link = link;
    this.#facts = facts;
    this.#sync = sync;
    this.#overdue = new OverdueEntries(link, new CallRecordReader(link));
  }

  async provision(queues: readonly QueueDeclaration[], recreate: readonly string[] = []): Promise<void> {
    await this.#withQueueErrors(() => this.#removeEmpty(queues));
    const lost = await this.#lostStreams(queues);
    const wanted = new Set(recreate.map((name) => (name === callbackStream ? name : queueStream(name))));
    await this.#reconcile(queues, async (stream) => {
      if (!lost.has(stream.name) || wanted.has(stream.name)) await this.#link.jsm.streams.add(stream);
    });
    // Even if nothing differs: an earlier process may have been killed between a change and this.
    await this.#sync();
  }

  async maintain(queues: readonly QueueDeclaration[]): Promise<readonly MissingStore[]> {
    const missing: string[] = [];
    if (await this.#reconcile(queues, async ({ name }) => void missing.push(name))) await this.#sync();
    for (const name of this.#lost.keys()) if (!missing.includes(name)) this.#lost.delete(name);
    return Promise.all(
      missing.map(async (name) => {
        const queue = queues.find((declared) => queueStream(declared.name) === name);
        return { name: queue?.name ?? name, lostCalls: queue === undefined ? undefined : await this.#countLost(queue) };
      }),
    );
  }

  async look(queues: readonly QueueDeclaration[]): Promise<readonly WorkState[]> {
    const states: WorkState[] = [];
    for (const queue of [...queues.map(({ name }) => name), undefined]) {
      try {
        states.push(await lookAtWork(this.#link, queue, ...placeOf(queue)));
      } catch (err) {
        // A missing stream or consumer is left to maintain().
        if (!isApiError(err, streamNotFound) && !isApiError(err, consumerNotFound)) throw unusable("look at", err);
      }
    }
    return states;
  }

  async countOverdue(queue: string | undefined): Promise<number> {
    try {
      return await this.#overdue.count(...placeOf(queue));
    } catch (err) {
      throw unusable("look at", err);
    }
  }

  async rebuild(queue: string | undefined, stop: AbortSignal): Promise<void> {
    try {
      await rebuildConsumer(this.#link, ...placeOf(queue), stop);
      await this.#sync();
    } catch (err) {
      throw unusable("repair", err);
    }
  }

  /**
   * Updates every stream and consumer that differs; `onMissing` decides about missing streams. Resolves with whether
   * one was changed.
   */
  async #reconcile(
    queues: readonly QueueDeclaration[],
    onMissing: (wanted: WantedStream) => Promise<void>,
  ): Promise<boolean> {
    const callbackWait = queues[0]?.ackWait ?? 60_000;
    let isChanged = false;
    await this.#withQueueErrors(async () => {
      const found = await this.#find(queues);
      // Streams shrink before others grow, as the broker reserves the whole limit of each.
      for (const { wanted, info } of found.toSorted((a, b) => growth(a) - growth(b))) {
        if (info === undefined) await onMissing(wanted);
        else if (await this.#updateStream(wanted, info)) isChanged = true;
      }
      for (const queue of queues) {
        if (await this.#provisionConsumer(queueStream(queue.name), workersConsumer, queue.ackWait)) isChanged = true;
      }
      if (await this.#provisionConsumer(callbackStream, callbacksConsumer, callbackWait)) isChanged = true;
    });
    return isChanged;
  }

  async #withQueueErrors(act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (cause) {
      throw unusable("provision", cause);
    }
  }

  /** Every wanted stream with its current state, and the streams of queues that are no longer declared. */
  async #find(queues: readonly QueueDeclaration[]): Promise<FoundStream[]> {
    const undeclared = await this.#undeclared(queues);
    const wanted = wantedStreams(this.#facts, queues, undeclared.length);
    const share = wanted[0]?.max_bytes ?? 0;
    return [
      ...(await Promise.all(wanted.map(async (each) => ({ wanted: each, info: await this.#infoOf(each.name) })))),
      ...undeclared
        .filter(({ state }) => state.bytes <= share)
        .map((info) => ({ wanted: { name: info.config.name, max_bytes: share }, info })),
    ];
  }

  /** Streams of queues that are not declared. */
  async #undeclared(queues: readonly QueueDeclaration[]): Promise<StreamInfo[]> {
    const { streams } = this.#link.jsm;
    const declared = new Set(queues.map(({ name }) => queueStream(name)));
    const found: StreamInfo[] = [];
    for await (const name of streams.names(allCalls)) if (!declared.has(name)) found.push(await streams.info(name));
    return found;
  }

  /** Removes undeclared streams that are empty. Each is closed first, so that no call is stored meanwhile and lost. */
  async #removeEmpty(queues: readonly QueueDeclaration[]): Promise<void> {
    const { streams } = this.#link.jsm;
    for (const { config, state } of await this.#undeclared(queues)) {
      if (state.messages > 0) continue;
      await streams.update(config.name, { subjects: [`closed.${config.name}`] });
      if ((await streams.info(config.name)).state.messages === 0) await streams.delete(config.name);
      else await streams.update(config.name, { subjects: config.subjects });
    }
  }

  async #infoOf(name: string): Promise<StreamInfo | undefined> {
    try {
      return await this.#link.jsm.streams.info(name);
    } catch (err) {
      if (isApiError(err, streamNotFound)) return undefined;
      throw err;
    }
  }

  /** True when it differed. */
  async #updateStream(wanted: WantedStream, { config, state }: StreamInfo): Promise<boolean> {
    if (config.persist_mode === PersistMode.Async) {
      throw new PlatformError(
        "queue_unavailable",
        `Cannot use stream "${wanted.name}": its persist_mode is "async", which loses calls that were accepted; the broker cannot change that, so move its entries and delete it`,
      );
    }
    // An update keeps what it leaves out, so that "no limit" must be explicit.
    const limits: WantedStream = { max_bytes: -1, ...wanted };
    const differs = Object.entries(limits).some(([key, value]) => !sameSetting(Reflect.get(config, key), value));
    if (!differs) return false;
    checkRoom(wanted, state);
    await this.#link.jsm.streams.update(wanted.name, {
      ...limits,
      metadata: { ...config.metadata, ...wanted.metadata },
    });
    return true;
  }

  /** True when it was created or changed. */
  async #provisionConsumer(stream: string, name: string, ackWait: number): Promise<boolean> {
    const { consumers } = this.#link.jsm;
    try {
      const change = consumerChange((await consumers.info(stream, name)).config, name, ackWait);
      if (change.kind === "update") await consumers.update(stream, name, change.config);
      else if (change.kind === "rebuild") await rebuildConsumer(this.#link, stream, name, new AbortController().signal);
      return change.kind !== "none";
    } catch (err) {
      if (isApiError(err, streamNotFound)) return false;
      if (!isApiError(err, consumerNotFound)) throw err;
      await consumers.add(stream, consumerConfig(name, ackWait, this.#link.serverVersion));
      return true;
    }
  }

  /** Streams of calls and callbacks that existed, as their queue was declared before, and are gone. */
  async #lostStreams(queues: readonly QueueDeclaration[]): Promise<ReadonlySet<string>> {
    const { streams } = this.#link.jsm;
    const exists = async (stream: string): Promise<boolean> => {
      try {
        await streams.info(stream);
        return true;
      } catch (err) {
        if (isApiError(err, streamNotFound)) return false;
        throw unusable("provision", err);
      }
    };
    const declarations = bucketStream(bucket.queues);
    const lost = new Set<string>();
    if (!(await exists(declarations))) return lost;
    for (const { name } of queues) {
      const declared = await readLast(this.#link, declarations, keySubject(bucket.queues, name));
      if (declared === undefined || declared.headers.has("KV-Operation")) continue;
      for (const stream of [queueStream(name), callbackStream]) if (!(await exists(stream))) lost.add(stream);
    }
    return lost;
  }

  async #countLost(queue: QueueDeclaration): Promise<number> {
    const stream = queueStream(queue.name);
    const before = this.#lost.get(stream);
    if (before?.agreed === true) return before.calls;
    const calls = await countQueued(this.#link, queue.name).catch((err: unknown) => {
      throw unusable("count the calls of", err);
    });
    this.#lost.set(stream, { calls, agreed: calls === before?.calls });
    return calls;
  }
}

/** Stream and consumer of a queue, or of the callbacks. */
function placeOf(queue: string | undefined): [stream: string, consumer: string] {
  return queue === undefined ? [callbackStream, callbacksConsumer] : [queueStream(queue), workersConsumer];
}

function unusable(what: string, cause: unknown): PlatformError {
  if (cause instanceof PlatformError) return cause;
  const why = cause instanceof Error ? cause.message : String(cause);
  const retry = isNotReady(cause) ? { retryAfterSeconds: 1 } : {};
  return new PlatformError("queue_unavailable", `Cannot ${what} the queue: ${why}`, { cause, ...retry });
}

/** The broker omits false and empty settings, and adds metadata keys. */
function sameSetting(current: unknown, wanted: unknown): boolean {
  if (typeof wanted === "object" && wanted !== null && !Array.isArray(wanted))
    return Object.entries(wanted).every(([key, value]) => Reflect.get(Object(current), key) === value);
  if (Array.isArray(wanted)) return JSON.stringify(current) === JSON.stringify(wanted);
  return (current ?? false) === (wanted ?? false);
}
