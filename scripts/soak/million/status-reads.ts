import { setTimeout as pause } from "node:timers/promises";

import { Pool } from "undici";

import type { CallRecord } from "../../../runtime/api/schemas/call-record.ts";
import type { CallTally } from "./call-tally.ts";

interface Due {
  readonly call: number;
  readonly at: number;
}

const readers = 32;
const readTimeout = 5_000;
/** The outcome is stored soon after the reply of the function; an earlier read is wasted. */
const firstWait = 1_000;
/** Calls of a killed worker stay claimed until its lease ends. */
const nextWait = 3_000;
const idle = 25;

/** Reads the end of each call from the status route, soon after its run and long before its record expires. */
export class StatusReads {
  readonly #tally: CallTally;
  readonly #pool: Pool;
  /** Both ordered by time. */
  readonly #fresh: Due[] = [];
  readonly #again: Due[] = [];
  readonly #reading: Promise<void>[];
  #reads = 0;
  #over = false;

  /** `url` is that of the gateway. */
  constructor(tally: CallTally, url: string) {
    this.#tally = tally;
    this.#pool = new Pool(url, { connections: readers });
    this.#reading = Array.from({ length: readers }, () => this.#read());
  }

  get reads(): number {
    return this.#reads;
  }

  /** The call ran, or may have ended without a run. */
  add(call: number): void {
    if (!this.#tally.isOver(call)) this.#fresh.push({ call, at: performance.now() + firstWait });
  }

  async close(): Promise<void> {
    this.#over = true;
    await Promise.all(this.#reading);
    await this.#pool.destroy();
  }

  async #read(): Promise<void> {
    while (!this.#over) {
      const due = this.#next();
      if (due === undefined) await pause(idle);
      else if (!this.#tally.isOver(due.call)) await this.#look(due.call);
    }
  }

  #next(): Due | undefined {
    const now = performance.now();
    return [this.#again, this.#fresh].find((list) => (list[0]?.at ?? Number.POSITIVE_INFINITY) <= now)?.shift();
  }

  async #look(call: number): Promise<void> {
    const record = await this.#statusOf(call);
    this.#reads++;
    if (record !== undefined && record.endedAt !== undefined) this.#tally.ended(call, record);
    else this.#again.push({ call, at: performance.now() + nextWait });
  }

  /** Undefined also while the broker is away. */
  async #statusOf(call: number): Promise<CallRecord | undefined> {
    try {
      const response = await this.#pool.request({
        method: "GET",
        path: `/async-function/${this.#tally.idOf(call)}`,
        headersTimeout: readTimeout,
      });
      const text = await response.body.text();
      return response.statusCode === 200 ? JSON.parse(text) : undefined;
    } catch {
      return undefined;
    }
  }
}
