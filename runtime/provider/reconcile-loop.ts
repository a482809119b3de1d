import type { Log } from "../process/log.ts";
import type { Bounded } from "./bounded.ts";
import type { FunctionReconciler } from "./function-reconciler.ts";

/** What a loop depends on. */
export interface ReconcileLoopParts {
  readonly bounded: Bounded;
  readonly log: Log;
  readonly now: () => number;
  /** Called once nothing of the function is left. */
  readonly gone: () => void;
}

const firstRetry = 500;
const longestRetry = 5_000;

/** Runs passes of one reconciler, one at a time: on a change, at the time the last pass asked for, after a failure. */
export class ReconcileLoop {
  readonly #parts: ReconcileLoopParts;
  #reconciler: FunctionReconciler | undefined;
  #running: Promise<void> | undefined;
  #dirty = false;
  #closed = false;
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: ReconcileLoopParts) {
    this.#parts = parts;
  }

  /** Begins with a first pass. */
  begin(reconciler: FunctionReconciler): void {
    this.#reconciler = reconciler;
    this.trigger();
  }

  /** Requests a pass, which starts as soon as none is running. */
  trigger(): void {
    this.#dirty = true;
    if (this.#closed || this.#reconciler === undefined) return;
    this.#running ??= this.#run(this.#reconciler).finally(() => {
      this.#running = undefined;
      if (this.#dirty) this.trigger();
    });
  }

  /** Starts no more passes; resolves when the last one has ended. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#reconciler?.close();
    await this.#running;
    this.#reconciler?.close();
  }

  async #run(reconciler: FunctionReconciler): Promise<void> {
    clearTimeout(this.#timer);
    try {
      const outcome = await this.#parts.bounded.run(async () => {
        this.#dirty = false;
        return this.#closed ? { again: undefined } : await reconciler.pass();
      });
      this.#failures = 0;
      // If it is desired again by now, the pass that follows handles that.
      if (outcome === "gone") this.#endUnlessDirty();
      else if (outcome.again !== undefined) this.#later(outcome.again - this.#parts.now());
    } catch (err) {
      const { name: functionName, namespace } = reconciler.ref;
      if (this.#failures === 0)
        this.#parts.log.warn({ err, functionName, namespace }, "cannot reconcile function, trying again");
      this.#later(Math.min(firstRetry * 2 ** this.#failures, longestRetry));
      this.#failures += 1;
      this.#dirty = false;
    }
  }

  #endUnlessDirty(): void {
    if (this.#dirty) return;
    this.#closed = true;
    this.#parts.gone();
  }

  #later(delay: number): void {
    if (this.#closed) return;
    this.#timer = setTimeout(() => this.trigger(), Math.max(1, delay));
  }
}
