import { JetStreamApiError } from "@nats-io/jetstream";

/** Error codes of the JetStream API. */
export const streamNotFound = 10_059;
export const consumerNotFound = 10_014;

/** Whether an error is the broker's refusal with this code. */
export function isApiError(err: unknown, code: number): boolean {
  return err instanceof JetStreamApiError && err.code === code;
}
