import { connect, type ClientHttp2Session, type ClientHttp2Stream, type OutgoingHttpHeaders } from "node:http2";
import { connect as connectSocket } from "node:net";

import { socketPathOf, unixAuthority } from "../../../api/replica-address.ts";
import { responseLimits } from "../../../http1/framing-rules.ts";

/** Streams on one connection, even if the replica allows more. */
const maxStreams = 100;
/** Milliseconds for which a connection without streams is kept. */
const keepAlive = 4_000;

/** One connection to a replica. */
export class H2cSession {
  readonly #session: ClientHttp2Session;
  #streams = 0;
  #connected = false;
  #failure: Error | undefined;

  /** `address` is `host:port`, or `unix:` and a path; connecting may take `connectTimeout` milliseconds. */
  constructor(address: string, connectTimeout: number) {
    const settings = { enablePush: false, maxHeaderListSize: responseLimits.head };
    const options = {
      settings,
      // The limit is in bytes, but Node.js counts headers, too.
      maxHeaderListPairs: 2_000,
      // Clients may repeat any header, as over HTTP/1.1.
      strictSingleValueFields: false,
    };
    const path = socketPathOf(address);
    const session =
      path === undefined
        ? connect(`http://${address}`, options)
        : connect(`http://${unixAuthority}`, { ...options, createConnection: () => connectSocket(path) });
    this.#session = session;
    const timer = setTimeout(() => {
      session.destroy(new Error(`Cannot connect to "${address}": it takes longer than ${connectTimeout} ms`));
    }, connectTimeout);
    session.once("connect", () => {
      this.#connected = true;
      clearTimeout(timer);
    });
    session.once("close", () => clearTimeout(timer));
    session.on("error", (err) => (this.#failure = err));
    // Not the callback of `setTimeout`, which is called for the first timeout only.
    session.setTimeout(keepAlive);
    session.on("timeout", () => {
      if (this.#streams === 0) session.close();
    });
    session.unref();
  }

  get connected(): boolean {
    return this.#connected;
  }

  /** Runs `action` once connected, immediately if it already is; never if connecting fails. */
  onConnected(action: () => void): void {
    if (this.#connected) action();
    else this.#session.once("connect", action);
  }

  /** The error that broke the connection. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  get usable(): boolean {
    return !this.#session.closed && !this.#session.destroyed;
  }

  get hasRoom(): boolean {
    const allowed = this.#connected ? (this.#session.remoteSettings.maxConcurrentStreams ?? maxStreams) : maxStreams;
    return this.#streams < Math.min(allowed, maxStreams);
  }

  /** @throws Error when the head cannot be sent */
  request(headers: OutgoingHttpHeaders, endStream: boolean): ClientHttp2Stream {
    const stream = this.#session.request(headers, { endStream, waitForTrailers: !endStream });
    this.#streams += 1;
    stream.once("close", () => (this.#streams -= 1));
    return stream;
  }

  /** Closes when its last stream has ended. */
  close(): void {
    this.#session.close();
  }

  destroy(): void {
    this.#session.destroy();
  }
}
