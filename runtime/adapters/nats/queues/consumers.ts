import { AckPolicy, type ConsumerConfig } from "@nats-io/jetstream";

import { consumerNotFound, isApiError } from "../link/api-errors.ts";
import type { NatsLink } from "../link/nats-link.ts";

/** Metadata key of a consumer: the server version under which it was created. */
export const madeUnder = "weir-server";

/**
 * The one durable pull consumer of a queue (or of the callbacks). `ackWait` in milliseconds. Redelivery is bounded by
 * the call record and never by the broker: what its own limits leave in the stream would come back without a count.
 */
export function consumerConfig(
  name: string,
  ackWait: number,
  serverVersion: string,
): Partial<ConsumerConfig> & { durable_name: string } {
  return {
    durable_name: name,
    ack_policy: AckPolicy.Explicit,
    ack_wait: ackWait * 1_000_000,
    max_ack_pending: -1,
    max_deliver: -1,
    max_waiting: 512,
    metadata: { [madeUnder]: serverVersion },
  };
}

/** Settings that our consumers never have: each would change when calls are delivered, or which. */
const foreignSettings = [
  "backoff",
  "filter_subject",
  "filter_subjects",
  "inactive_threshold",
  "max_batch",
  "max_expires",
  "headers_only",
] as const satisfies readonly (keyof ConsumerConfig)[];
/** What the broker can change on an existing consumer (nats-server `checkNewConsumerConfig`). */
const changeable: ReadonlySet<string> = new Set(["ack_wait", "max_ack_pending", "max_deliver", "backoff"]);

/** How to bring a consumer to its desired settings. */
export type ConsumerChange =
  | { readonly kind: "none" }
  | { readonly kind: "update"; readonly config: Partial<ConsumerConfig> }
  /** The broker cannot change this: the consumer has to be recreated. */
  | { readonly kind: "rebuild" };

/** The change that a consumer with the settings `current` needs; its recorded server version is left as it is. */
export function consumerChange(current: ConsumerConfig, name: string, ackWait: number): ConsumerChange {
  const { metadata: _madeUnder, ...wanted } = consumerConfig(name, ackWait, "");
  const differing = [
    ...Object.entries(wanted).flatMap(([key, value]) => (Reflect.get(current, key) === value ? [] : [key])),
    ...foreignSettings.filter((key) => !isUnset(current[key])),
  ];
  if (differing.length === 0) return { kind: "none" };
  if (!differing.every((key) => changeable.has(key))) return { kind: "rebuild" };
  const changed = Object.fromEntries(Object.entries(wanted).filter(([key]) => changeable.has(key)));
  return { kind: "update", config: { ...changed, backoff: [] } };
}

function isUnset(value: unknown): boolean {
  return (
    value === undefined ||
    value === "" ||
    value === 0 ||
    value === false ||
    (Array.isArray(value) && value.length === 0)
  );
}

/** Adds the consumer if it is missing; an existing one stays as it is, whatever its settings. */
export async function addMissingConsumer(link: NatsLink, stream: string, name: string, ackWait: number): Promise<void> {
  try {
    await link.jsm.consumers.info(stream, name);
  } catch (err) {
    if (!isApiError(err, consumerNotFound)) throw err;
    await link.jsm.consumers.add(stream, consumerConfig(name, ackWait, link.serverVersion));
  }
}

/** Deletes the consumer; that it is already gone is not an error. */
export async function deleteConsumer(link: NatsLink, stream: string, name: string): Promise<void> {
  try {
    await link.jsm.consumers.delete(stream, name);
  } catch (err) {
    if (!isApiError(err, consumerNotFound)) throw err;
  }
}
