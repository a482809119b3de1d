import type { Socket } from "node:net";

import type { PlainRequestParts } from "./plain-head.ts";

/** A request that came whole: what an `IncomingMessage` says of itself once it was read to its end. */
export class PlainRequest {
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: string[];
  readonly socket: Socket;
  /** Undefined when it has none. */
  readonly body: Buffer | undefined;
  readonly complete = true;

  constructor({ method, target, rawHeaders, body }: PlainRequestParts, socket: Socket) {
    this.method = method;
    this.url = target;
    this.rawHeaders = rawHeaders;
    this.body = body;
    this.socket = socket;
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

  /** There is nothing more to be read. */
  resume(): this {
    return this;
  }
}
