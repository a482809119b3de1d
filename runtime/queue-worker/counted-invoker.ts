import type { ActivityTotals } from "../core/scaling/activity-reporter.ts";
import type { QueuedCall } from "../core/calls/call.ts";
import { formatRef } from "../core/functions/function-ref.ts";
import type { InvokeOptions, InvokeOutcome, Invoker } from "../core/ports/invoker.ts";

/** Counts the runs that pass through, per function. */
export class CountedInvoker implements Invoker {
  readonly #inner: Invoker;
  readonly #totals = new Map<string, { finished: number; inFlight: number }>();

  constructor(inner: Invoker) {
    this.#inner = inner;
  }

  async invoke(address: string, call: QueuedCall, options: InvokeOptions): Promise<InvokeOutcome> {
    const key = formatRef(call.function);
    const totals = this.#totals.get(key) ?? { finished: 0, inFlight: 0 };
    this.#totals.set(key, totals);
    totals.inFlight++;
    try {
      return await this.#inner.invoke(address, call, options);
    } finally {
      totals.inFlight--;
      totals.finished++;
    }
  }

  /** Drops the totals of a function that was removed; its runs still in flight are no longer counted. */
  forget(key: string): void {
    this.#totals.delete(key);
  }

  /** Running totals by `<name>.<namespace>`. */
  totals(): Iterable<readonly [string, ActivityTotals]> {
    return this.#totals.entries();
  }
}
