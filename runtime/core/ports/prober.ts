import type { FunctionProtocol } from "../functions/function-limits.ts";

/** Result of a probe. `refused`: nothing listens there; `silent`: no response in time. */
export type ProbeResult =
  | { readonly kind: "passed" }
  | { readonly kind: "refused" }
  | { readonly kind: "silent" }
  | { readonly kind: "responded"; readonly status: number }
  | { readonly kind: "broken"; readonly words: string };

/** Probes whether a replica can take calls. */
export interface Prober {
  /**
   * Without `path` it passes if the address accepts a connection, or for `h2c` speaks HTTP/2; with `path` if the status
   * of a GET is 200 to 399. Never rejects; `silent` after `timeout` milliseconds.
   */
  probe(address: string, path: string | undefined, timeout: number, protocol?: FunctionProtocol): Promise<ProbeResult>;
}
