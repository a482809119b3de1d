import type { Log } from "./log.ts";

interface Step {
  readonly name: string;
  readonly close: () => unknown;
}

/** Collects how to close what was opened; closing runs in reverse and never stops at a failure. */
export class Lifecycle {
  readonly #log: Log;
  readonly #steps: Step[] = [];
  #closing: Promise<void> | undefined;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Call right after the thing is open, so that a failed start closes exactly what it opened. */
  onClose(name: string, close: () => unknown): void {
    this.#steps.push({ name, close });
  }

  /** Closes everything once; repeated calls wait for the first. */
  close(): Promise<void> {
    this.#closing ??= this.#run();
    return this.#closing;
  }

  async #run(): Promise<void> {
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop()) {
      try {
        await step.close();
        this.#log.debug({ step: step.name }, "closed");
      } catch (err) {
        this.#log.error({ err, step: step.name }, "failed to close");
      }
    }
  }
}
