import type { ReplicaFailure } from "./reconcile-backoff.ts";

/** No replica can be started until the function is deployed again; a further attempt would fail in the same way. */
export class StartRefused extends Error {
  override readonly name = "StartRefused";
  /** A word in CamelCase. */
  readonly reason: string;

  constructor({ reason, message }: ReplicaFailure) {
    super(message);
    this.reason = reason;
  }
}
