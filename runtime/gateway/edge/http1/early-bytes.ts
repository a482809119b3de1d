/** Bytes that a client may send before their turn comes; then it is read no more. */
const most = 65_536;

/** What a client sent before its turn, in the order in which it came. */
export class EarlyBytes {
  #pieces: Buffer[] = [];
  #size = 0;

  get empty(): boolean {
    return this.#pieces.length === 0;
  }

  /** Keeps `piece`, which is nobody else's. True: it is enough, the client is to wait. */
  hold(piece: Buffer): boolean {
    this.#pieces.push(piece);
    this.#size += piece.length;
    return this.#size > most;
  }

  /** Gives all of it, and keeps none. */
  take(): readonly Buffer[] {
    const pieces = this.#pieces;
    this.#pieces = [];
    this.#size = 0;
    return pieces;
  }
}
