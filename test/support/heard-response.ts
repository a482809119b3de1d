import type { Duplex } from "node:stream";

import type { UpstreamListener } from "../../runtime/core/ports/upstream.ts";

/** Keeps what it hears of one answer; throws when it hears something after the last. */
export class HeardResponse implements UpstreamListener {
  status = 0;
  headers: readonly string[] = [];
  /** One character per byte. */
  body = "";
  bytes = 0;
  /** `end`, `upgrade`, or the kind of error; undefined while the answer goes on. */
  outcome: string | undefined;
  error: Error | undefined;
  connection: Duplex | undefined;
  /** Whether it takes data without a pause. */
  takesMore = true;
  /** Whether the bodies are kept, or only counted. */
  keeps = true;

  onHead(status: number, headers: readonly string[]): void {
    this.#mustGoOn();
    if (this.status !== 0) throw new Error("a second head");
    this.status = status;
    this.headers = headers;
  }

  onData(chunk: Uint8Array): boolean {
    this.#mustGoOn();
    this.bytes += chunk.byteLength;
    if (this.keeps) this.body += Buffer.from(chunk).toString("latin1");
    return this.takesMore;
  }

  onEnd(): void {
    this.#mustGoOn();
    this.outcome = "end";
  }

  onError(kind: "refused" | "reset" | "malformed", err: Error): void {
    this.#mustGoOn();
    this.outcome = kind;
    this.error = err;
  }

  onUpgrade(headers: readonly string[], connection: Duplex): void {
    this.#mustGoOn();
    this.outcome = "upgrade";
    this.headers = headers;
    this.connection = connection;
  }

  #mustGoOn(): void {
    if (this.outcome !== undefined) throw new Error(`something after "${this.outcome}"`);
  }
}
