import { Server, type RequestListener, type ServerOptions } from "node:http";

import { FastPath, type FastPathParts } from "./fast-path.ts";

/** A server of node:http with a short way for calls in their plainest form. */
export class FastServer extends Server {
  readonly #path: FastPath;

  constructor(options: ServerOptions, handle: RequestListener, parts: FastPathParts) {
    super(options, handle);
    this.#path = new FastPath(this, parts);
  }

  override closeIdleConnections(): void {
    super.closeIdleConnections();
    this.#path.closeIdle();
  }

  override closeAllConnections(): void {
    super.closeAllConnections();
    this.#path.closeAll();
  }
}
