import type { DesiredFunction } from "../core/functions/desired-function.ts";
import { formatRef } from "../core/functions/function-ref.ts";
import type { Usage } from "../core/ports/usage.ts";

/** Measurements at once: each may cost as much as a walk through all processes. */
const parallel = 4;

/** Measures the processor time of functions, beside the sweeps, as a measurement may take long. */
export class CpuSamples {
  readonly #usage: Usage;
  readonly #listener: (key: string, cpu: number | undefined) => void;
  /** In the order in which they are measured. */
  readonly #waiting = new Map<string, DesiredFunction>();
  readonly #measuring = new Set<string>();

  /** `listener` gets each measurement; `cpu` in thousandths of a processor, undefined = unknown. */
  constructor(usage: Usage, listener: (key: string, cpu: number | undefined) => void) {
    this.#usage = usage;
    this.#listener = listener;
  }

  /** Requests a measurement of each function; those that are being measured are left out. */
  ask(functions: readonly DesiredFunction[]): void {
    for (const wanted of functions) {
      const key = formatRef(wanted);
      if (!this.#measuring.has(key)) this.#waiting.set(key, wanted);
    }
    this.#next();
  }

  #next(): void {
    for (const [key, { namespace, name }] of this.#waiting) {
      if (this.#measuring.size >= parallel) return;
      this.#waiting.delete(key);
      this.#measuring.add(key);
      void this.#usage.of({ namespace, name }).then((used) => {
        this.#measuring.delete(key);
        this.#listener(key, used?.cpu);
        this.#next();
      });
    }
  }
}
