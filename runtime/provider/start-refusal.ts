import { PlatformError } from "../api/platform-error.ts";
import type { ReplicaFailure } from "../core/replicas/reconcile-backoff.ts";

/** What is missing, a secret for example, is looked for again after this many milliseconds. */
export const blockedRetry = 5_000;

/** Why a replica could not even be begun; after `retryAfter` milliseconds it is tried again, or with the function's back-off. */
export interface StartRefusal {
  readonly failure: ReplicaFailure;
  readonly retryAfter: number | undefined;
}

/** What an error of `Replicas.start` means. */
export function startRefusal(err: unknown): StartRefusal {
  const message = err instanceof Error ? err.message : String(err);
  const code = err instanceof PlatformError ? err.code : undefined;
  if (code === "secret_not_found") return { failure: { reason: "SecretNotFound", message }, retryAfter: blockedRetry };
  const reason = code === "provider_unavailable" ? "ProviderUnavailable" : "CannotStart";
  return { failure: { reason, message }, retryAfter: undefined };
}
