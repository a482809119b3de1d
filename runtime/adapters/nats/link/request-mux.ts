import {
  createInbox,
  NoRespondersError,
  TimeoutError,
  type Msg,
  type MsgHdrs,
  type NatsConnection,
} from "@nats-io/transport-node";

import { HeaderCarrier, type HeaderBlock } from "./header-block.ts";

interface Pending {
  readonly subject: string;
  readonly resolve: (reply: Msg) => void;
  readonly reject: (err: Error) => void;
  /** Monotonic milliseconds. */
  readonly deadline: number;
}

export interface MuxRequest {
  readonly headers?: MsgHdrs | HeaderBlock;
  /** Milliseconds; accurate to `sweepPeriod`. */
  readonly timeout: number;
}

const sweepPeriod = 25;

/**
 * Requests on one shared inbox. The client's own `request` creates an error object and a timer for each; here one timer
 * serves all, and all requests of one turn of the event loop are sent in one write.
 */
export class RequestMux {
  readonly #nc: NatsConnection;
  readonly #inbox: string;
  readonly #carrier = new HeaderCarrier();
  readonly #pending = new Map<string, Pending>();
  #gathered: (() => void)[] = [];
  #next = 0;
  #sweep: NodeJS.Timeout | undefined;

  constructor(nc: NatsConnection, inboxPrefix: string) {
    this.#nc = nc;
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
      this.#pending.set(token, { subject, resolve, reject, deadline: performance.now() + options.timeout });
      this.#sweep ??= setInterval(() => this.#expire(), sweepPeriod);
      this.#gather(() => {
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
      });
    });
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
    if (reply.data.byteLength === 0 && reply.headers?.code === 503)
      pending.reject(new NoRespondersError(pending.subject));
    else pending.resolve(reply);
  }

  #expire(): void {
    const now = performance.now();
    for (const [token, pending] of this.#pending) {
      if (pending.deadline > now) continue;
      this.#pending.delete(token);
      pending.reject(new TimeoutError());
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
