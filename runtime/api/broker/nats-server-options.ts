import type { NatsUser } from "./nats-users.ts";

/** Bytes that a queue message may have for headers, beyond the body of its call. */
export const messageRoom = 262_144;

/** When a message is synced: with others every 100 ms, which a busy disk stretches to a second, or before it is acknowledged. */
export type Durability = "interval" | "always";

/** Facts from which a server's store and limits are derived. */
export interface NatsServerFacts {
  readonly storeDirectory: string;
  /** Bytes all streams may take. */
  readonly maxFileStore: number;
  readonly durability: Durability;
  /** Largest body of a call in bytes, without headers. */
  readonly payloadLimit: number;
}

const memoryStore = 16 * 1_048_576;

/** Options of a nats-server that are the same on one machine and in a cluster. */
export function natsServerOptions(facts: NatsServerFacts) {
  return {
    max_payload: facts.payloadLimit + messageRoom,
    write_deadline: "10s",
    ping_interval: "20s",
    jetstream: {
      store_dir: facts.storeDirectory,
      max_file_store: facts.maxFileStore,
      max_memory_store: memoryStore,
      sync_interval: facts.durability === "always" ? "always" : "100ms",
    },
  };
}

/** One user of the server with closed lists of rights, as an entry of `authorization.users`. */
export function natsUserOptions({ name, rights }: NatsUser, password: string) {
  return {
    user: name,
    password,
    permissions: { publish: { allow: rights.publish }, subscribe: { allow: rights.subscribe } },
  };
}
