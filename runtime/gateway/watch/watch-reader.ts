import type { WatchByeReason } from "../../api/schemas/watch/watch-signals.ts";
import { commentText, eventText } from "../../core/watch/event-text.ts";

/** Bytes that a client may leave unread before its stream is closed. */
export const farthestBehind = 1_048_576;
/** Bytes up to which further portions of a whole are sent, so that a long one does not count as unread. */
const portionRoom = 65_536;
/** Milliseconds without an event after which a comment is sent. */
const longestQuiet = 15_000;

/** What a stream writes to: the response to its client. */
export interface EventSink {
  /** Bytes that were written and not sent yet. */
  readonly writableLength: number;
  write(text: string): unknown;
  end(): unknown;
  once(event: "close", listener: () => void): unknown;
  on(event: "drain", listener: () => void): unknown;
  off(event: "drain", listener: () => void): unknown;
}

/** One client of a stream. */
export class WatchReader {
  readonly #sink: EventSink;
  readonly #now: () => number;
  /** Wholes of which portions are still to be sent. */
  readonly #wholes: Iterator<string>[] = [];
  readonly #pump = (): void => this.#sendPortions();
  #lastSent: number;
  #isOver = false;

  constructor(sink: EventSink, now: () => number) {
    this.#sink = sink;
    this.#now = now;
    this.#lastSent = now();
    sink.on("drain", this.#pump);
    sink.once("close", () => this.#stop());
  }

  /** Whether nothing more is sent. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Sends an event; a client that left too much of earlier ones unread is told goodbye instead. */
  send(text: string): void {
    if (this.#isOver) return;
    if (this.#sink.writableLength > farthestBehind) this.bye("slow");
    else this.#write(text);
  }

  /** Sends the portions of a whole no faster than the client reads, between other events. */
  sendWhole(portions: Iterator<string>): void {
    this.#wholes.push(portions);
    this.#sendPortions();
  }

  /** Shows that the stream lives, when there was nothing else to send for some time. */
  sendComment(): void {
    if (!this.#isOver && this.#now() - this.#lastSent >= longestQuiet) this.send(commentText);
  }

  /** Ends it for a reason that is known. */
  bye(reason: WatchByeReason): void {
    if (this.#isOver) return;
    this.#write(eventText("bye", { reason }));
    this.#stop();
    this.#sink.end();
  }

  #sendPortions(): void {
    while (!this.#isOver && this.#sink.writableLength < portionRoom) {
      const [whole] = this.#wholes;
      if (whole === undefined) return;
      const { done, value } = whole.next();
      if (done === true) this.#wholes.shift();
      else this.#write(value);
    }
  }

  #write(text: string): void {
    this.#lastSent = this.#now();
    this.#sink.write(text);
  }

  #stop(): void {
    this.#isOver = true;
    this.#wholes.length = 0;
    this.#sink.off("drain", this.#pump);
  }
}
