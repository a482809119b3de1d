import type { Socket } from "node:net";

import type { HeadReader } from "../invocation/head-reader.ts";
import type { RequestHead } from "../invocation/request-head.ts";
import { PlainBody } from "./plain-body.ts";
import type { PlainHead, PlainRequestParts } from "./plain-head.ts";

/** A request that a plain connection brought: what is used of an `IncomingMessage`. */
export class PlainRequest {
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: readonly string[];
  readonly socket: Socket;
  /** Bytes of its body. */
  readonly length: number;
  /** Its bytes if they came in one piece with the head, else a stream of them; undefined when it has none. */
  readonly body: Buffer | PlainBody | undefined;
  readonly #head: PlainHead;

  constructor({ head, body }: PlainRequestParts, socket: Socket) {
    const { method, target, rawHeaders, length } = head;
    this.#head = head;
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

  /**
   * What `read` says that its head means; one that came before on this connection is not read again.
   * @throws PlatformError as `read`
   */
  understand(read: HeadReader): RequestHead {
    const head = this.#head.understood ?? read(this, false);
    // Whether a key is good is asked each time.
    if (head.invokeKey === undefined) this.#head.understood = head;
    return head;
  }

  /** Reads away what nobody reads. */
  resume(): this {
    if (this.body instanceof PlainBody) this.body.resume();
    return this;
  }
}
