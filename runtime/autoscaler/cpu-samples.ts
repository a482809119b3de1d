import type { DesiredFunction } from "../core/functions/desired-function.ts";
import { formatRef } from "../core/functions/function-ref.ts";
import type { Usage } from "../core/ports/usage.ts";

/** Looks that are under way at once: each may cost as much as a walk through all processes. */
const parallel = 4;

/** Looks how much processor time functions use, beside all else, as a look takes its time. */
export class CpuSamples {
  readonly #usage: Usage;
  readonly #tell: (key: string, cpu: number | undefined) => void;
  /** In the order they wait for their turn. */
  readonly #waiting = new Map<string, DesiredFunction>();
  readonly #looking = new Set<string>();

  /** `tell` hears of each look; `cpu` in thousandths, undefined = not known. */
  constructor(usage: Usage, tell: (key: string, cpu: number | undefined) => void) {
    this.#usage = usage;
    this.#tell = tell;
  }

  /** Asks for a look at each; those that are still being looked at are left out. */
  ask(functions: readonly DesiredFunction[]): void {
    for (const wanted of functions) {
      const key = formatRef(wanted);
      if (!this.#looking.has(key)) this.#waiting.set(key, wanted);
    }
    this.#next();
  }

  #next(): void {
    for (const [key, { namespace, name }] of this.#waiting) {
      if (this.#looking.size >= parallel) return;
      this.#waiting.delete(key);
      this.#looking.add(key);
      void this.#usage.of({ namespace, name }).then((used) => {
        this.#looking.delete(key);
        this.#tell(key, used?.cpu);
        this.#next();
      });
    }
  }
}
