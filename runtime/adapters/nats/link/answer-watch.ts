import type { Msg } from "@nats-io/transport-node";

/** Milliseconds without an answer after which a server counts as silent; doubled each time that leaving it did not help. */
const patience = { first: 3_000, longest: 24_000 };
/** Milliseconds without a request after which what was not answered before counts no more. */
const pauseBetween = 3_000;
/** Any server replies to these with what it has. */
const direct = "$JS.API.DIRECT.";
/** Second letter of an acknowledgement of a publish (`{"stream":…`), as nearly all replies are. */
const stored = "s".charCodeAt(0);
/** A reply that only says "not now" is short. */
const longestRefusal = 512;

/**
 * Whether a server answers requests. One that is cut off from the others keeps its connections, and answers pings, yet
 * can do nothing. Only a connection that sends requests can tell.
 */
export class AnswerWatch {
  readonly #onSilent: () => void;
  readonly #now: () => number;
  #patience = patience.first;
  /** When the first request was sent that no answer followed, and the last request; monotonic milliseconds. */
  #since: number | undefined;
  #askedAt = 0;

  /** `onSilent` is called when requests have had no answer for a while. */
  constructor(onSilent: () => void, now: () => number = () => performance.now()) {
    this.#onSilent = onSilent;
    this.#now = now;
  }

  asked(): void {
    const now = this.#now();
    if (this.#since === undefined || now - this.#askedAt > pauseBetween) this.#since = now;
    this.#askedAt = now;
  }

  /** Takes in the reply to a request, or that there was none in time. */
  ended(subject: string, reply: Msg | undefined): void {
    if (subject.startsWith(direct)) return;
    if (reply !== undefined && isAnswer(reply)) {
      this.#since = undefined;
      this.#patience = patience.first;
      return;
    }
    const now = this.#now();
    if (this.#since === undefined || now - this.#since < this.#patience) return;
    this.#since = now;
    this.#patience = Math.min(2 * this.#patience, patience.longest);
    this.#onSilent();
  }

  /** Another server is asked from now on. */
  restart(): void {
    this.#since = undefined;
  }
}

/** "No responders", and "not available now" of JetStream, come from a server that has nobody to ask. */
function isAnswer({ data, headers }: Msg): boolean {
  if (data[2] === stored) return true;
  if (data.byteLength === 0) return headers?.code !== 503;
  return data.byteLength > longestRefusal || !Buffer.from(data).includes('"code":503');
}
