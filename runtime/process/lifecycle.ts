import type { Log } from "./log.ts";

interface Step {
  readonly name: string;
  readonly close: () => unknown;
}

/** Collects how to close what was opened; closing runs in reverse and never stops at a failure. */
export class Lifecycle {
  readonly #log: Log;
  readonly #steps: Step[] = [];
  readonly #hurried: Step[] = [];
  #closing: Promise<void> | undefined;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Call right after the thing is open, so that a failed start closes exactly what it opened. */
  onClose(name: string, close: () => unknown): void {
    this.#steps.push({ name, close });
  }

  /** What must be gone even when nobody waits for the closing: children and what they leave behind. */
  onEndNow(name: string, end: () => unknown): void {
    this.#hurried.push({ name, close: end });
  }

  /** Ends at once what `onEndNow` was told of, in reverse; a closing under way goes on beside it. */
  async endNow(): Promise<void> {
    await this.#close(this.#hurried);
  }

  /** Closes everything once; repeated calls wait for the first. */
  close(): Promise<void> {
    this.#closing ??= this.#close(this.#steps);
    return this.#closing;
  }

  async #close(steps: Step[]): Promise<void> {
    for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
      try {
        await step.close();
        this.#log.debug({ step: step.name }, "closed");
      } catch (err) {
        this.#log.error({ err, step: step.name }, "failed to close");
      }
    }
  }
}
