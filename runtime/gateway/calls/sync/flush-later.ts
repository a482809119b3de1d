/** A reply whose head was made but not sent. */
export interface Unsent {
  /** Sends the head and what follows it so far; does nothing once they were sent. */
  flush(): void;
}

/**
 * Flushes replies that are still incomplete at the end of this turn of the event loop: a reply that arrives whole
 * leaves in one write, and a stream is not delayed.
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
