import type { Delivery, DeliverySource, PutOutcome } from "../../../runtime/core/ports/call-queue.ts";
import { realClock, type MemoryClock } from "./memory-clock.ts";
import type { QueueDepths, QueueState } from "../../../runtime/core/ports/queue-states.ts";
import { MemoryTaker } from "./memory-taker.ts";

/** Limits and times of a work queue; an absent limit is unbounded. Milliseconds, counts and bytes. */
export interface WorkQueueOptions {
  readonly queue: string;
  /** Time without acknowledgement after which an item is redelivered. */
  readonly ackWait: number;
  readonly maxLength?: number;
  readonly maxLengthPerSubject?: number;
  readonly maxSize?: number;
  readonly clock?: MemoryClock;
}

/** An item to store: `id` detects duplicates, each `subject` has its own limit. */
export interface WorkItem<T> {
  readonly id: string;
  readonly subject: string;
  readonly content: Delivery<T>["content"];
  readonly raw: Delivery<T>["raw"];
}

interface Entry<T> extends WorkItem<T> {
  readonly sequence: number;
  readonly storedAt: number;
  state: "ready" | "on-loan" | "requeue";
  /** Cancels the timer of the loan or of the delay. */
  callOff: () => void;
}

const duplicateWindow = 120_000;
/** Milliseconds between two checks of `mayAsk`. */
const recheckEvery = 50;

/**
 * Holds items until they are acknowledged, as a durable work queue would: in order, redeliveries first, each item on
 * loan to one consumer at a time. An acknowledgement or requeue counts from any delivery of the item, even a former
 * one.
 */
export class MemoryWorkQueue<T> implements DeliverySource<T> {
  readonly #options: WorkQueueOptions;
  readonly #clock: MemoryClock;
  readonly #entries = new Map<number, Entry<T>>();
  /** Sequences to redeliver, in the order in which they fell due. */
  readonly #redeliveries: number[] = [];
  /** Sequences that were never delivered. */
  readonly #fresh: number[] = [];
  readonly #seen = new Map<string, number>();
  readonly #takers: MemoryTaker<T>[] = [];
  #lastSequence = 0;
  #delivered = 0;

  constructor(options: WorkQueueOptions) {
    this.#options = options;
    this.#clock = options.clock ?? realClock;
  }

  /** Items that are not acknowledged yet. */
  get size(): number {
    return this.#entries.size;
  }

  /** The current state. */
  state(): QueueState {
    const entries = [...this.#entries.values()];
    const [first, last] = [entries[0], entries.at(-1)];
    const fresh = this.#fresh.filter((sequence) => this.#entries.has(sequence)).length;
    return {
      fresh,
      onLoan: entries.length - fresh,
      first: first?.sequence ?? 0,
      last: last?.sequence ?? 0,
      firstAt: first?.storedAt,
      lastAt: last?.storedAt,
      delivered: this.#delivered,
      now: this.#clock.now(),
    };
  }

  /** Number of items by subject. */
  depths(): QueueDepths {
    const byFunction = new Map<string, number>();
    for (const { subject } of this.#entries.values()) byFunction.set(subject, (byFunction.get(subject) ?? 0) + 1);
    return { byFunction, submitted: this.#lastSequence };
  }

  /** Stores `item` unless one with its id was stored in the last two minutes or a limit is reached. */
  put(item: WorkItem<T>, until: number): PutOutcome {
    if (performance.now() >= until) return { kind: "refused", because: "unavailable" };
    const now = this.#clock.now();
    const {
      maxLength = Number.POSITIVE_INFINITY,
      maxLengthPerSubject,
      maxSize = Number.POSITIVE_INFINITY,
    } = this.#options;
    if (item.raw.body.byteLength > maxSize) return { kind: "refused", because: "too-large" };
    for (const [id, at] of this.#seen) {
      if (now - at < duplicateWindow) break;
      this.#seen.delete(id);
    }
    if (this.#seen.has(item.id)) return { kind: "stored" };
    if (this.#entries.size >= maxLength) return { kind: "refused", because: "full" };
    if (maxLengthPerSubject !== undefined && this.#lengthOf(item.subject) >= maxLengthPerSubject) {
      return { kind: "refused", because: "full" };
    }
    const sequence = ++this.#lastSequence;
    this.#entries.set(sequence, { ...item, sequence, storedAt: now, state: "ready", callOff: () => {} });
    this.#seen.set(item.id, now);
    this.#fresh.push(sequence);
    this.#offer();
    return { kind: "stored" };
  }

  async take(
    slots: number,
    handle: (delivery: Delivery<T>) => Promise<void>,
    signal: AbortSignal,
    mayAsk?: () => boolean,
  ): Promise<void> {
    const taker = new MemoryTaker(slots, handle, () => this.#offer(), mayAsk);
    this.#takers.push(taker);
    this.#offer();
    const recheck = mayAsk === undefined ? undefined : setInterval(() => this.#offer(), recheckEvery);
    await taker.until(signal);
    clearInterval(recheck);
    this.#takers.splice(this.#takers.indexOf(taker), 1);
    await taker.idle();
  }

  /** Delivers ready items to consumers with free slots, one each in turn. */
  #offer(): void {
    for (;;) {
      const turn = this.#takers.findIndex((taker) => taker.free > 0);
      const sequence = turn === -1 ? undefined : (this.#redeliveries.shift() ?? this.#fresh.shift());
      if (sequence === undefined) return;
      const entry = this.#entries.get(sequence);
      if (entry === undefined) continue;
      const [taker] = this.#takers.splice(turn, 1);
      if (taker === undefined) return;
      this.#takers.push(taker);
      this.#delivered = Math.max(this.#delivered, sequence);
      this.#lend(entry);
      taker.hand(this.#deliver(entry));
    }
  }

  #deliver(entry: Entry<T>): Delivery<T> {
    return {
      content: structuredClone(entry.content),
      raw: structuredClone(entry.raw),
      queue: this.#options.queue,
      sequence: entry.sequence,
      storedAt: entry.storedAt,
      deliveredAt: performance.now(),
      extend: () => {
        if (entry.state === "on-loan") this.#lend(entry);
        return true;
      },
      acknowledge: async () => {
        entry.callOff();
        this.#entries.delete(entry.sequence);
        return true;
      },
      requeue: (delay) => {
        if (entry.state === "on-loan") this.#waitFor(entry, "requeue", delay);
      },
    };
  }

  #lend(entry: Entry<T>): void {
    this.#waitFor(entry, "on-loan", this.#options.ackWait);
  }

  #waitFor(entry: Entry<T>, state: Entry<T>["state"], delay: number): void {
    entry.callOff();
    if (!this.#entries.has(entry.sequence)) return;
    entry.state = state;
    entry.callOff = this.#clock.after(delay, () => {
      entry.state = "ready";
      this.#redeliveries.push(entry.sequence);
      this.#offer();
    });
  }

  #lengthOf(subject: string): number {
    let length = 0;
    for (const entry of this.#entries.values()) if (entry.subject === subject) length++;
    return length;
  }
}
