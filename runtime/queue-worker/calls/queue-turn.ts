import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";

import type { Leases } from "../../core/ports/leases.ts";
import type { QueueDeclaration } from "../../core/ports/queue-catalog.ts";

const maxPeriod = 500;
/** Milliseconds after its last renewal for which calls may be taken and leases extended under the turn. */
const freshFor = 1_000;
/** Milliseconds by which the turn outlasts a call's lease: its holder's calls are redelivered before it passes on. */
const margin = 2_000;

/**
 * The right to take calls from a strict queue, held by one worker at a time and renewed periodically. The successor of
 * a worker that went silent gets it only once that worker's calls are redelivered, so that no call overtakes them.
 */
export class QueueTurn {
  readonly #leases: Leases;
  readonly #name: string;
  readonly #holder = randomUUID();
  readonly #ackWait: number;
  readonly #period: number;
  readonly #lost = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #renewing: Promise<void> | undefined;
  #renewedAt = Number.NEGATIVE_INFINITY;

  private constructor(leases: Leases, { name, ackWait }: Pick<QueueDeclaration, "name" | "ackWait">) {
    this.#leases = leases;
    this.#name = `queue.${name}`;
    this.#ackWait = ackWait;
    this.#period = Math.min(maxPeriod, ackWait / 4);
  }

  /** Waits for the turn; undefined when `stop` aborts first. */
  static async wait(
    leases: Leases,
    queue: Pick<QueueDeclaration, "name" | "ackWait">,
    stop: AbortSignal,
  ): Promise<QueueTurn | undefined> {
    const turn = new QueueTurn(leases, queue);
    while (!stop.aborted) {
      await turn.#renew();
      if (turn.fresh && !stop.aborted) {
        turn.#timer = setInterval(() => void turn.#beat(), turn.#period);
        return turn;
      }
      await pause(turn.#period, undefined, { signal: stop }).catch(() => {});
    }
    await turn.end();
    return undefined;
  }

  /** Aborts when the turn was not renewed for the length of a call's lease: another worker may soon have it. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Whether the turn was renewed recently: only then may a call be taken. */
  get fresh(): boolean {
    return performance.now() - this.#renewedAt < freshFor;
  }

  /** Whether the turn is still this worker's; renews it if that is uncertain. */
  async confirm(): Promise<boolean> {
    if (!this.fresh) await this.#renew();
    return this.fresh;
  }

  /** Releases the turn, so that the next worker has it at once. */
  async end(): Promise<void> {
    clearInterval(this.#timer);
    await this.#renewing;
    this.#renewedAt = Number.NEGATIVE_INFINITY;
    await this.#leases.release(this.#name, this.#holder).catch(() => {});
  }

  async #beat(): Promise<void> {
    this.#check();
    await this.#renew();
    this.#check();
  }

  #check(): void {
    if (performance.now() - this.#renewedAt < this.#ackWait) return;
    clearInterval(this.#timer);
    this.#lost.abort();
  }

  /** A refusal proves nothing: it may be the reply to a repeated write. Only time without a renewal ends the turn. */
  #renew(): Promise<void> {
    this.#renewing ??= this.#acquire().finally(() => (this.#renewing = undefined));
    return this.#renewing;
  }

  async #acquire(): Promise<void> {
    const at = performance.now();
    const ours = await this.#leases.acquire(this.#name, this.#holder, this.#ackWait + margin).catch(() => false);
    if (ours) this.#renewedAt = at;
  }
}
