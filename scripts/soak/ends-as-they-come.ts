import type { CallRecord } from "../../runtime/api/schemas/call-record.ts";
import type { PlatformCalls } from "../../test/support/platform-calls.ts";

const readers = 8;
const final: ReadonlySet<CallRecord["state"]> = new Set(["done", "failed", "cancelled"]);

/** Reads the ends of calls as the load goes on: records of a long run expire before its end. */
export class EndsAsTheyCome {
  readonly ends = new Map<string, CallRecord>();
  readonly #calls: PlatformCalls;
  readonly #open: string[] = [];
  readonly #reading: Promise<void>[];
  #over = false;

  constructor(calls: PlatformCalls) {
    this.#calls = calls;
    this.#reading = Array.from({ length: readers }, () => this.#read());
  }

  /** A call was accepted. */
  add(id: string): void {
    this.#open.push(id);
  }

  /** Reads what is still open once more, and is done. */
  async close(): Promise<void> {
    this.#over = true;
    await Promise.all(this.#reading);
  }

  async #read(): Promise<void> {
    for (;;) {
      const id = this.#open.shift();
      if (id === undefined) {
        if (this.#over) return;
        await new Promise((resolve) => setTimeout(resolve, 200));
        continue;
      }
      const record = await this.#look(id);
      if (record !== undefined && final.has(record.state)) this.ends.set(id, record);
      else if (!this.#over) this.#open.push(id);
    }
  }

  /** Waits a little for the end, so that the same call is not asked for all the time. */
  async #look(id: string): Promise<CallRecord | undefined> {
    try {
      const answer = await this.#calls.send("GET", `/async-function/${id}?wait=1s`);
      return answer.status === 200 ? JSON.parse(answer.body.toString()) : undefined;
    } catch {
      return undefined;
    }
  }
}
