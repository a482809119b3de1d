/** A reply whose head is made but not sent. */
export interface Unsent {
  /** Sends what there is of it; does nothing once it was sent. */
  flush(): void;
}

/**
 * Sends replies that are not whole by the end of this turn of the event loop: one that comes in one piece leaves in
 * one piece, and a stream waits for nothing.
 */
export class FlushLater {
  #replies: Unsent[] = [];
  readonly #flush = (): void => {
    const replies = this.#replies;
    this.#replies = [];
    for (const reply of replies) reply.flush();
  };

  add(reply: Unsent): void {
    if (this.#replies.length === 0) setImmediate(this.#flush);
    this.#replies.push(reply);
  }
}
