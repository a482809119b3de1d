import type { CallRecord } from "../../runtime/api/schemas/call-record.ts";
import type { PlatformCalls } from "../../test/support/platform-calls.ts";

const readers = 8;
const final: ReadonlySet<CallRecord["state"]> = new Set(["done", "failed", "cancelled"]);

/** Reads the ends of calls while the load continues, because records of a long run expire before its end. */
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

  /** Reads the open calls a last time. */
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

  /** Waits a little for the end, so that the same call is not polled constantly. */
  async #look(id: string): Promise<CallRecord | undefined> {
    try {
      const response = await this.#calls.send("GET", `/async-function/${id}?wait=1s`);
      return response.status === 200 ? JSON.parse(response.body.toString()) : undefined;
    } catch {
      return undefined;
    }
  }
}
