import type { Socket } from "node:net";

import type { RequestText } from "../../../http1/request-text.ts";
import type { Http1Body } from "./http1-body.ts";

/** A request as its connection brought it: what calls use of an `IncomingMessage`. */
export class Http1Request {
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: readonly string[];
  readonly socket: Socket;
  /** Bytes of its body; undefined when it comes in chunks. */
  readonly length: number | undefined;
  /** Its bytes if they came in one piece with the head, else a stream of them; undefined when it has none. */
  readonly body: Buffer | Http1Body | undefined;

  constructor(text: RequestText, socket: Socket, length: number | undefined, body: Buffer | Http1Body | undefined) {
    this.method = text.method;
    this.url = text.target;
    this.rawHeaders = text.rawHeaders;
    this.socket = socket;
    this.length = length;
    this.body = body;
  }

  /** Whether it came to its end. */
  get complete(): boolean {
    return this.stream?.complete ?? true;
  }

  /** Bytes of its body that came so far. */
  get received(): number {
    return this.stream?.bytes ?? this.length ?? 0;
  }

  /** Whether its body is waited for at the moment. */
  get awaited(): boolean {
    return this.stream?.readableFlowing === true;
  }

  get stream(): Http1Body | undefined {
    return this.body instanceof Uint8Array ? undefined : this.body;
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
    this.stream?.resume();
    return this;
  }
}
