import type { Log } from "./log.ts";

interface Step {
  readonly name: string;
  readonly close: () => unknown;
}

/** Collects the steps that close what was opened; they run in reverse, and a failure does not stop them. */
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

  /** For what must end even if the close is not waited for: children and what they leave behind. */
  onEndNow(name: string, end: () => unknown): void {
    this.#hurried.push({ name, close: end });
  }

  /** Runs the steps of `onEndNow` at once, in reverse; a close in progress continues in parallel. */
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
