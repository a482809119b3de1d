import {
  createInbox,
  NoRespondersError,
  TimeoutError,
  type Msg,
  type MsgHdrs,
  type NatsConnection,
} from "@nats-io/transport-node";

import type { AnswerWatch } from "./answer-watch.ts";
import { HeaderCarrier, type HeaderBlock } from "./header-block.ts";

interface Pending {
  readonly subject: string;
  readonly resolve: (reply: Msg) => void;
  readonly reject: (err: Error) => void;
  /** Monotonic milliseconds. */
  readonly deadline: number;
  sent: boolean;
}

export interface MuxRequest {
  readonly headers?: MsgHdrs | HeaderBlock;
  /** Milliseconds; accurate to `sweepPeriod`. */
  readonly timeout: number;
}

const sweepPeriod = 25;
/** Bytes that may be on their way to a server that has not said that it read them. */
const window = 33_554_432;

/** A request that was not sent in time, as the server reads too slowly, or not at all. */
export class NotSentError extends TimeoutError {
  override readonly name = "NotSentError";
}

/**
 * Requests on one shared inbox. The client's own `request` creates an error object and a timer for each; here one timer
 * serves all, and all requests of one turn of the event loop are sent in one write. A server that reads nothing is sent
 * no more than `window`, however often callers repeat their requests: the rest would only fill this process.
 */
export class RequestMux {
  readonly #nc: NatsConnection;
  readonly #inbox: string;
  readonly #carrier = new HeaderCarrier();
  readonly #answers: AnswerWatch;
  readonly #pending = new Map<string, Pending>();
  #gathered: (() => void)[] = [];
  /** Bytes sent since the server last said that it read everything. */
  #unread = 0;
  /** Sends that wait until it says so again. */
  #held: (() => void)[] | undefined;
  #next = 0;
  #sweep: NodeJS.Timeout | undefined;

  constructor(nc: NatsConnection, inboxPrefix: string, answers: AnswerWatch) {
    this.#nc = nc;
    this.#answers = answers;
    this.#inbox = `${createInbox(inboxPrefix)}.`;
    nc.subscribe(`${this.#inbox}*`, {
      callback: (err, reply) => {
        if (err === null) this.#receive(reply);
      },
    });
    void nc.closed().then((err) => this.#rejectAll(err instanceof Error ? err : new Error("the connection is closed")));
  }

  /** @throws TimeoutError, NoRespondersError, or the client's own error for a request it cannot send */
  request(subject: string, payload: Uint8Array | string, options: MuxRequest): Promise<Msg> {
    return new Promise((resolve, reject) => {
      const token = (this.#next++).toString(36);
      const deadline = performance.now() + options.timeout;
      const pending: Pending = { subject, resolve, reject, deadline, sent: false };
      this.#pending.set(token, pending);
      this.#answers.asked();
      this.#sweep ??= setInterval(() => this.#expire(), sweepPeriod);
      const send = (): void => {
        if (!this.#pending.has(token)) return;
        if (this.#isHeld(send)) return;
        pending.sent = true;
        this.#unread += payload.length;
        try {
          const reply = this.#inbox + token;
          this.#nc.publish(
            subject,
            payload,
            options.headers === undefined ? { reply } : { reply, headers: this.#carrier.carry(options.headers) },
          );
        } catch (err) {
          this.#pending.delete(token);
          reject(err instanceof Error ? err : new Error(String(err)));
        }
      };
      this.#gather(send);
    });
  }

  /** Whether a send has to wait; it is called again later. */
  #isHeld(send: () => void): boolean {
    if (this.#held !== undefined) this.#held.push(send);
    else if (this.#unread >= window) {
      this.#held = [send];
      void this.#untilRead();
    } else return false;
    return true;
  }

  /** Pings: the reply follows all that was sent before. Without one, the connection is lost at some time. */
  async #untilRead(): Promise<void> {
    await this.#nc.flush().catch(() => {});
    this.#unread = 0;
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const each of held) each();
  }

  #gather(send: () => void): void {
    this.#gathered.push(send);
    if (this.#gathered.length > 1) return;
    setImmediate(() => {
      const gathered = this.#gathered;
      this.#gathered = [];
      for (const each of gathered) each();
    });
  }

  #receive(reply: Msg): void {
    const token = reply.subject.slice(this.#inbox.length);
    const pending = this.#pending.get(token);
    if (pending === undefined) return;
    this.#pending.delete(token);
    this.#answers.ended(pending.subject, reply);
    if (reply.data.byteLength === 0 && reply.headers?.code === 503)
      pending.reject(new NoRespondersError(pending.subject));
    else pending.resolve(reply);
  }

  #expire(): void {
    const now = performance.now();
    for (const [token, pending] of this.#pending) {
      if (pending.deadline > now) continue;
      this.#pending.delete(token);
      this.#answers.ended(pending.subject, undefined);
      pending.reject(pending.sent ? new TimeoutError() : new NotSentError());
    }
    if (this.#pending.size > 0) return;
    clearInterval(this.#sweep);
    this.#sweep = undefined;
  }

  #rejectAll(err: Error): void {
    clearInterval(this.#sweep);
    for (const pending of this.#pending.values()) pending.reject(err);
    this.#pending.clear();
  }
}
