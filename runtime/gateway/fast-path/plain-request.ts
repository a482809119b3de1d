import type { Socket } from "node:net";

import { PlainBody } from "./plain-body.ts";
import type { PlainRequestParts } from "./plain-head.ts";

/** A request that a plain connection brought: what is used of an `IncomingMessage`. */
export class PlainRequest {
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: string[];
  readonly socket: Socket;
  /** Bytes of its body. */
  readonly length: number;
  /** Its bytes if they came in one piece with the head, else a stream of them; undefined when it has none. */
  readonly body: Buffer | PlainBody | undefined;

  constructor({ method, target, rawHeaders, length, body }: PlainRequestParts, socket: Socket) {
    this.method = method;
    this.url = target;
    this.rawHeaders = rawHeaders;
    this.socket = socket;
    this.length = length;
    this.body = body?.length === length || length === 0 ? body : new PlainBody(length, socket);
    if (body !== undefined && this.body instanceof PlainBody) this.body.receive(body);
  }

  /** Whether it came to its end. */
  get complete(): boolean {
    return !(this.body instanceof PlainBody) || this.body.complete;
  }

  get readableFlowing(): boolean | null {
    return this.body instanceof PlainBody ? this.body.readableFlowing : null;
  }

  /** By name in lower case; what came twice is joined as HTTP joins lists. */
  get headers(): { [name: string]: string | undefined } {
    const headers: { [name: string]: string | undefined } = {};
    for (let index = 0; index + 1 < this.rawHeaders.length; index += 2) {
      const name = (this.rawHeaders[index] ?? "").toLowerCase();
      const value = this.rawHeaders[index + 1] ?? "";
      const before = headers[name];
      headers[name] = before === undefined ? value : `${before}, ${value}`;
    }
    return headers;
  }

  /** Reads away what nobody reads. */
  resume(): this {
    if (this.body instanceof PlainBody) this.body.resume();
    return this;
  }
}
