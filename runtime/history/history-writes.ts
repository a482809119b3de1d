import type { CallHistoryWriter } from "../core/ports/call-history.ts";

/** The one writer of the history, which does one thing at a time, in the order in which they were asked for. */
export class HistoryWrites {
  readonly #writer: CallHistoryWriter;
  #last: Promise<unknown> = Promise.resolve();

  constructor(writer: CallHistoryWriter) {
    this.#writer = writer;
  }

  /** Rejects as `act` does; what waits behind it is done anyway. */
  run<T>(act: (writer: CallHistoryWriter) => Promise<T>): Promise<T> {
    const result = this.#last.then(() => act(this.#writer));
    this.#last = result.catch(() => {});
    return result;
  }

  /** Resolves when nothing is left to do. */
  async idle(): Promise<void> {
    await this.#last;
  }
}
