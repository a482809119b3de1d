import type { Readable } from "node:stream";

/** A reply of a gateway, as soon as its head is there. */
export interface GatewayReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Must be read or destroyed. */
  readonly body: Readable;
}
