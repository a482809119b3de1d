import type { FunctionProtocol } from "../functions/function-limits.ts";

/** What asking a replica showed. `refused`: nothing listens there; `silent`: nothing came in time. */
export type ProbeResult =
  | { readonly kind: "passed" }
  | { readonly kind: "refused" }
  | { readonly kind: "silent" }
  | { readonly kind: "answered"; readonly status: number }
  | { readonly kind: "broken"; readonly words: string };

/** Asks a replica whether it can take calls. */
export interface Prober {
  /**
   * Without `path`: does the address accept a connection. With it: is GET answered with a status from 200 to 399.
   * Without it and for `h2c`: is HTTP/2 spoken there. Never rejects; `silent` after `timeout` milliseconds.
   */
  probe(address: string, path: string | undefined, timeout: number, protocol?: FunctionProtocol): Promise<ProbeResult>;
}
