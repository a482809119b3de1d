import type { ReplicaFailure } from "../../../core/replicas/reconcile-backoff.ts";

/**
 * A watchdog's report over its channel: that it serves, where the process behind it listens, why it cannot serve, or why
 * its function takes no calls yet.
 */
export type WatchdogReport =
  | { readonly serving: true }
  | { readonly inner: string }
  | { readonly failure: ReplicaFailure }
  | { readonly waiting: ReplicaFailure };

/** The report in a message, or undefined; the function's own code may have sent it. */
export function reportIn(message: unknown): WatchdogReport | undefined {
  if (typeof message !== "object" || message === null) return undefined;
  if ("serving" in message && message.serving === true) return { serving: true };
  if ("inner" in message && typeof message.inner === "string") {
    return /^\S{1,256}:\d{1,5}$/.test(message.inner) ? { inner: message.inner } : undefined;
  }
  const failure = "failure" in message ? failureIn(message.failure) : undefined;
  if (failure !== undefined) return { failure };
  const waiting = "waiting" in message ? failureIn(message.waiting) : undefined;
  return waiting === undefined ? undefined : { waiting };
}

function failureIn(failure: unknown): ReplicaFailure | undefined {
  if (typeof failure !== "object" || failure === null || !("reason" in failure) || !("message" in failure))
    return undefined;
  const { reason, message: sentence } = failure;
  if (typeof reason !== "string" || !/^[A-Za-z]{1,64}$/.test(reason) || typeof sentence !== "string") return undefined;
  return { reason, message: sentence };
}
