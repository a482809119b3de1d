import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";

import type { Leases } from "../../core/ports/leases.ts";
import type { QueueDeclaration } from "../../core/ports/queue-catalog.ts";

const longestPeriod = 500;
/** Nothing is taken, nor any call's lease extended, when the turn was proven longer ago. */
const freshFor = 1_000;
/** How much longer the turn lasts than the lease of a call, so that what its holder had is offered again before. */
const margin = 2_000;

/**
 * The right to take from a strict queue, held by one worker at a time and renewed all the time. Whoever follows one that
 * fell silent gets it when the calls that one had are offered again, so that none overtakes them.
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
    this.#period = Math.min(longestPeriod, ackWait / 4);
  }

  /** Waits for the turn; undefined when `stop` aborts before. */
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

  /** Aborts when nothing proved the turn for the lease of a call: by then another may have it soon. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Whether the turn was proven just now: only then may a call be taken. */
  get fresh(): boolean {
    return performance.now() - this.#renewedAt < freshFor;
  }

  /** Whether the turn is still this worker's, asking if that is not known. */
  async confirm(): Promise<boolean> {
    if (!this.fresh) await this.#renew();
    return this.fresh;
  }

  /** Gives the turn to the next at once. */
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

  /** A refusal proves nothing: it may be an answer to a repeated write. Time tells. */
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
