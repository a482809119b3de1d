import type { ReplicaFailure } from "../../core/reconcile-backoff.ts";

/** What a watchdog says over its channel: the port it serves on, or why it cannot. */
export type WatchdogReport = { readonly port: number } | { readonly failure: ReplicaFailure };

/** The report in a message, or undefined; the function's own code may have written it. */
export function reportIn(message: unknown): WatchdogReport | undefined {
  if (typeof message !== "object" || message === null) return undefined;
  if ("port" in message && typeof message.port === "number") {
    const { port } = message;
    return Number.isInteger(port) && port > 0 && port < 65_536 ? { port } : undefined;
  }
  const failure = "failure" in message ? message.failure : undefined;
  if (typeof failure !== "object" || failure === null || !("reason" in failure) || !("message" in failure))
    return undefined;
  const { reason, message: sentence } = failure;
  if (typeof reason !== "string" || !/^[A-Za-z]{1,64}$/.test(reason) || typeof sentence !== "string") return undefined;
  return { failure: { reason, message: sentence } };
}
