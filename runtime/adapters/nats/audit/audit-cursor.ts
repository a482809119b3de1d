import type { NatsLink } from "../link/nats-link.ts";
import { readPage, type PageMessage, type PageStart } from "../link/read-page.ts";

/** Reads a stream of the audit trail from one message to the next, a page ahead. It holds nothing open. */
export class AuditCursor {
  readonly #link: NatsLink;
  readonly #stream: string;
  #start: PageStart;
  #page: readonly PageMessage[] = [];
  #next = 0;
  #more = true;

  constructor(link: NatsLink, stream: string, start: PageStart) {
    this.#link = link;
    this.#stream = stream;
    this.#start = start;
  }

  /** The next message, once `fill` has resolved; undefined at the end. */
  get head(): PageMessage | undefined {
    return this.#page[this.#next];
  }

  /** Whether `fill` has to read before `head` is known. */
  get isEmpty(): boolean {
    return this.head === undefined && this.#more;
  }

  /** Reads the next page; rejects when the broker does not send it, and may be called again. */
  async fill(): Promise<void> {
    const { messages, more } = await readPage(this.#link, this.#stream, this.#start);
    const last = messages.at(-1);
    // Where nothing was found yet, the time that was asked for still says where to begin.
    if (last !== undefined) this.#start = { seq: last.sequence + 1 };
    this.#page = messages;
    this.#next = 0;
    this.#more = more && last !== undefined;
  }

  shift(): void {
    this.#next += 1;
  }

  /** At the end: looks again for messages that were stored since. */
  lookAgain(): void {
    this.#more = true;
  }
}
