import { PlatformError } from "../api/platform-error.ts";
import { StartRefused } from "../core/replicas/start-refused.ts";
import type { ReplicaFailure } from "../core/replicas/reconcile-backoff.ts";

/** Milliseconds after which a start that lacked something, such as a secret, is retried. */
export const blockedRetry = 5_000;

/** Why a start was refused; retried after `retryAfter` milliseconds, or with the function's back-off if undefined. */
export interface StartRefusal {
  readonly failure: ReplicaFailure;
  readonly retryAfter: number | undefined;
}

/** What an error of `Replicas.start` means. */
export function startRefusal(err: unknown): StartRefusal {
  const message = err instanceof Error ? err.message : String(err);
  const code = err instanceof PlatformError ? err.code : undefined;
  if (err instanceof StartRefused) return { failure: { reason: err.reason, message }, retryAfter: blockedRetry };
  if (code === "secret_not_found") return { failure: { reason: "SecretNotFound", message }, retryAfter: blockedRetry };
  const reason = code === "provider_unavailable" ? "ProviderUnavailable" : "CannotStart";
  return { failure: { reason, message }, retryAfter: undefined };
}
