/** Facts about one delivery of a consumer. */
export interface DeliveryFacts {
  /** In the stream. */
  readonly sequence: number;
  /** Number of the delivery, counted from 1. */
  readonly delivery: number;
  /** Unix milliseconds. */
  readonly storedAt: number;
  /** Messages of the stream that the consumer has still to deliver. */
  readonly pending: number;
}

/** The facts in a JetStream reply subject (NATS ADR-15, also its longer form). */
export function parseDeliveryFacts(reply: string): DeliveryFacts {
  const parts = reply.split(".");
  const shift = parts.length >= 11 ? 2 : 0;
  const numberAt = (index: number): number => Number(parts[index + shift]);
  return {
    sequence: numberAt(5),
    delivery: numberAt(6),
    storedAt: Math.floor(numberAt(7) / 1_000_000),
    pending: numberAt(8),
  };
}
