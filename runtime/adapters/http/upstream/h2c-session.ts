import { connect, type ClientHttp2Session, type ClientHttp2Stream, type OutgoingHttpHeaders } from "node:http2";

/** Of the answer's head, as for HTTP/1.1 (`security.md` H9). */
const headLimit = 65_536;
/** Streams on one connection, whatever the replica allows. */
const mostStreams = 100;
/** Milliseconds that a connection is kept without streams. */
const keepAlive = 4_000;

/** One connection to a replica. */
export class H2cSession {
  readonly #session: ClientHttp2Session;
  #streams = 0;
  #connected = false;
  #failure: Error | undefined;

  /** `address` is `host:port`; opening it may take so many milliseconds. */
  constructor(address: string, connectTimeout: number) {
    const settings = { enablePush: false, maxHeaderListSize: headLimit };
    const options = {
      settings,
      // The limit is about bytes; node counts headers, too.
      maxHeaderListPairs: 2_000,
      // A client may repeat what it likes, over HTTP/1.1, too.
      strictSingleValueFields: false,
    };
    const session = connect(`http://${address}`, options);
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
    // Not the callback of setTimeout, which hears of the first time alone.
    session.setTimeout(keepAlive);
    session.on("timeout", () => {
      if (this.#streams === 0) session.close();
    });
    session.unref();
  }

  get connected(): boolean {
    return this.#connected;
  }

  /** Runs `go` once it is connected, at once if it is; never if it does not come to that. */
  onConnected(go: () => void): void {
    if (this.#connected) go();
    else this.#session.once("connect", go);
  }

  /** What broke it. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  get usable(): boolean {
    return !this.#session.closed && !this.#session.destroyed;
  }

  get hasRoom(): boolean {
    const allowed = this.#connected ? (this.#session.remoteSettings.maxConcurrentStreams ?? mostStreams) : mostStreams;
    return this.#streams < Math.min(allowed, mostStreams);
  }

  /** @throws Error when the head cannot be sent */
  request(headers: OutgoingHttpHeaders, endStream: boolean): ClientHttp2Stream {
    const stream = this.#session.request(headers, { endStream, waitForTrailers: !endStream });
    this.#streams += 1;
    stream.once("close", () => (this.#streams -= 1));
    return stream;
  }

  /** Ends with its last stream. */
  close(): void {
    this.#session.close();
  }

  destroy(): void {
    this.#session.destroy();
  }
}
