import { PlatformError } from "../../../../api/platform-error.ts";
import type { ReplicaFailure } from "../../../../core/replicas/reconcile-backoff.ts";

/** Why a replica could not be started: a reason in CamelCase and a sentence. */
export class StartFailure extends Error {
  override readonly name = "StartFailure";
  readonly reason: string;

  constructor(reason: string, sentence: string, options: ErrorOptions = {}) {
    super(sentence, options);
    this.reason = reason;
  }
}

/** The failure of a start; `reason` is for errors that have none of their own. */
export function failureOf(err: unknown, reason: string): ReplicaFailure {
  const message = err instanceof Error ? err.message : String(err);
  if (err instanceof StartFailure) return { reason: err.reason, message };
  const unavailable = err instanceof PlatformError && err.code === "provider_unavailable";
  return { reason: unavailable ? "ProviderUnavailable" : reason, message };
}
