/** Bytes that a client may send before their turn; beyond that, its connection is not read. */
const maxBytes = 65_536;

/** Bytes that a client sent before their turn, in the order received. */
export class EarlyBytes {
  #chunks: Buffer[] = [];
  #size = 0;

  get empty(): boolean {
    return this.#chunks.length === 0;
  }

  /** Stores `chunk`, and owns it. True asks to stop reading from the client. */
  hold(chunk: Buffer): boolean {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    return this.#size > maxBytes;
  }

  /** Removes and returns all of them. */
  take(): readonly Buffer[] {
    const chunks = this.#chunks;
    this.#chunks = [];
    this.#size = 0;
    return chunks;
  }
}
