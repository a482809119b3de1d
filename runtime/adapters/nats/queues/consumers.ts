import { AckPolicy, type ConsumerConfig } from "@nats-io/jetstream";

import type { NatsLink } from "../link/nats-link.ts";

/** Metadata of a consumer: version of the server under which it was made. */
export const madeUnder = "weir-server";

/**
 * The one durable pull consumer of a queue (or of the callbacks). `ackWait` in milliseconds. Redelivery is bounded by
 * the call record and never by the broker: leftovers of its own limits would come back without a count.
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

/** Settings that a consumer of ours never has; who sets one of them changes when calls are offered, or which. */
const foreignSettings = [
  "backoff",
  "filter_subject",
  "filter_subjects",
  "inactive_threshold",
  "max_batch",
  "max_expires",
  "headers_only",
] as const satisfies readonly (keyof ConsumerConfig)[];
/** What the broker changes of a consumer that is there (nats-server `checkNewConsumerConfig`). */
const changeable: ReadonlySet<string> = new Set(["ack_wait", "max_ack_pending", "max_deliver", "backoff"]);

/** How a consumer is brought to its settings. */
export type ConsumerChange =
  | { readonly kind: "none" }
  | { readonly kind: "update"; readonly config: Partial<ConsumerConfig> }
  /** The broker changes no consumer so: it has to be made anew. */
  | { readonly kind: "rebuild" };

/** What must become of a consumer that has these settings; under which server it was made is left as it is. */
export function consumerChange(is: ConsumerConfig, name: string, ackWait: number): ConsumerChange {
  const { metadata: _madeUnder, ...wanted } = consumerConfig(name, ackWait, "");
  const differing = [
    ...Object.entries(wanted).flatMap(([key, value]) => (Reflect.get(is, key) === value ? [] : [key])),
    ...foreignSettings.filter((key) => !isUnset(is[key])),
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

const consumerNotFound = 10014;

/** Adds the consumer if it is missing; one that is there stays as it is, whatever its settings. */
export async function addMissingConsumer(link: NatsLink, stream: string, name: string, ackWait: number): Promise<void> {
  try {
    await link.jsm.consumers.info(stream, name);
  } catch (err) {
    if (!isMissing(err)) throw err;
    await link.jsm.consumers.add(stream, consumerConfig(name, ackWait, link.serverVersion));
  }
}

/** Deletes the consumer; one that is gone already is no failure. */
export async function deleteConsumer(link: NatsLink, stream: string, name: string): Promise<void> {
  try {
    await link.jsm.consumers.delete(stream, name);
  } catch (err) {
    if (!isMissing(err)) throw err;
  }
}

function isMissing(err: unknown): boolean {
  return err instanceof Error && "code" in err && err.code === consumerNotFound;
}
