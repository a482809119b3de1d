import { Readable } from "node:stream";

import { CliError, usageError } from "../cli-error.ts";
import { exitCode } from "../exit-code.ts";
import { errorMessage } from "../error-message.ts";

/**
 * A stream that can be read again from its start while it is short: what was read is kept, until it is longer than
 * `limit` bytes or is released.
 */
export class ReplayableInput {
  readonly #source: AsyncIterator<Buffer>;
  readonly #limit: number;
  /** As in a sentence: `standard input`. */
  readonly #name: string;
  #chunks: Buffer[] = [];
  /** Number of the chunk that `#chunks` begins with. */
  #first = 0;
  #length = 0;
  #keeps = true;
  #ended = false;
  #failure: CliError | undefined;
  #pull: Promise<void> | undefined;

  constructor(source: AsyncIterable<Buffer>, name: string, limit: number) {
    this.#source = source[Symbol.asyncIterator]();
    this.#name = name;
    this.#limit = limit;
  }

  /** Why it could not be read, if it could not. */
  get failure(): CliError | undefined {
    return this.#failure;
  }

  /**
   * Everything, if that is at most `bytes`; undefined if it is more.
   * @throws CliError when it cannot be read
   */
  async readAhead(bytes: number): Promise<Buffer | undefined> {
    while (!this.#ended && this.#length <= bytes) await this.#next();
    return this.#length <= bytes ? Buffer.concat(this.#chunks) : undefined;
  }

  /**
   * A stream from its start. An earlier one must not be read any more.
   * @throws CliError when its start is no longer kept
   */
  open(): Readable {
    if (this.#first > 0)
      throw new CliError(exitCode.failed, `Cannot send ${this.#name} a second time: it is too long to be kept; use -f`);
    return Readable.from(this.#read(), { objectMode: false });
  }

  /** Keeps no more than it must: it will not be opened again. */
  release(): void {
    this.#keeps = false;
  }

  async *#read(): AsyncGenerator<Buffer> {
    for (let number = 0; ; number++) {
      while (number - this.#first >= this.#chunks.length) {
        if (this.#ended) return;
        await this.#next();
      }
      const chunk = this.#chunks[number - this.#first];
      if (chunk === undefined) return;
      if (!this.#keeps) {
        this.#chunks = this.#chunks.slice(number - this.#first + 1);
        this.#first = number + 1;
      }
      yield chunk;
    }
  }

  /** Reads one chunk; readers at the same time wait for the same one. */
  async #next(): Promise<void> {
    this.#pull ??= this.#source.next().then(
      ({ done, value }) => {
        this.#pull = undefined;
        if (done === true) {
          this.#ended = true;
          return;
        }
        this.#chunks.push(value);
        this.#length += value.byteLength;
        if (this.#length > this.#limit) this.#keeps = false;
      },
      (cause: unknown) => {
        const reason = errorMessage(cause);
        this.#failure = usageError(`Cannot read ${this.#name}: ${reason}`);
        throw this.#failure;
      },
    );
    return this.#pull;
  }
}
