import type { Duplex } from "node:stream";

import type { UpstreamListener } from "../../runtime/core/ports/upstream.ts";

/** Records one response; throws on an event after the last one. */
export class HeardResponse implements UpstreamListener {
  status = 0;
  headers: readonly string[] = [];
  /** Statuses and headers of interim responses. */
  readonly interim: (readonly [status: number, headers: readonly string[]])[] = [];
  trailers: readonly string[] = [];
  /** One character per byte. */
  body = "";
  bytes = 0;
  /** `end`, `upgrade`, or the kind of error; undefined until the response ends. */
  outcome: string | undefined;
  error: Error | undefined;
  connection: Duplex | undefined;
  /** What `onData` returns: whether it takes data without a pause. */
  takesMore = true;
  /** Whether the body is kept, or only counted. */
  keeps = true;

  onInterim(status: number, headers: readonly string[]): void {
    this.#assertOpen();
    if (this.status !== 0) throw new Error("an interim response after the head");
    this.interim.push([status, headers]);
  }

  onHead(status: number, headers: readonly string[]): void {
    this.#assertOpen();
    if (this.status !== 0) throw new Error("a second head");
    this.status = status;
    this.headers = headers;
  }

  onData(chunk: Uint8Array): boolean {
    this.#assertOpen();
    this.bytes += chunk.byteLength;
    if (this.keeps) this.body += Buffer.from(chunk).toString("latin1");
    return this.takesMore;
  }

  onTrailers(trailers: readonly string[]): void {
    this.#assertOpen();
    this.trailers = trailers;
  }

  onEnd(): void {
    this.#assertOpen();
    this.outcome = "end";
  }

  onError(kind: "refused" | "reset" | "malformed", err: Error): void {
    this.#assertOpen();
    this.outcome = kind;
    this.error = err;
  }

  onUpgrade(headers: readonly string[], connection: Duplex): void {
    this.#assertOpen();
    this.outcome = "upgrade";
    this.headers = headers;
    this.connection = connection;
  }

  #assertOpen(): void {
    if (this.outcome !== undefined) throw new Error(`something after "${this.outcome}"`);
  }
}
