import { CallTotals } from "../process/metrics/call-totals.ts";
import type { ActivityTotals } from "../core/scaling/activity-reporter.ts";
import type { QueuedCall } from "../core/calls/call.ts";
import { formatRef } from "../core/functions/function-ref.ts";
import type { InvokeOptions, InvokeOutcome, Invoker } from "../core/ports/invoker.ts";

/** Counts the runs that pass through, per function. */
export class CountedInvoker implements Invoker {
  readonly #inner: Invoker;
  readonly #totals = new Map<string, CallTotals>();

  constructor(inner: Invoker) {
    this.#inner = inner;
  }

  async invoke(address: string, call: QueuedCall, options: InvokeOptions): Promise<InvokeOutcome> {
    const key = formatRef(call.function);
    const totals = this.#totals.get(key) ?? new CallTotals();
    this.#totals.set(key, totals);
    totals.begin(performance.now());
    try {
      return await this.#inner.invoke(address, call, options);
    } finally {
      totals.end(performance.now());
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
