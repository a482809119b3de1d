import { setTimeout as pause } from "node:timers/promises";

import type { KvWatchEntry } from "@nats-io/kv";
import type { QueuedIterator } from "@nats-io/transport-node";

import type { JsonBucket } from "./bucket-json.ts";
import type { NatsLink } from "../link/nats-link.ts";

export interface BucketObserver<T> {
  set(key: string, value: T): void;
  removed(key: string): void;
  synced(): void;
}

const retryPause = 250;

/**
 * Tells all values of a bucket whose keys match `filter`, then every change. After the connection was lost all values are told again, so that
 * nothing that happened meanwhile is missed; removals are remembered by the bucket's markers.
 */
export async function watchBucket<T>(
  link: NatsLink,
  bucket: JsonBucket<T>,
  filter: string,
  observer: BucketObserver<T>,
): Promise<() => void> {
  let ended = false;
  let current: QueuedIterator<KvWatchEntry> | undefined;
  let firstSync: () => void = () => {};
  const synced = new Promise<void>((resolve) => {
    firstSync = resolve;
  });
  const sync = (): void => {
    observer.synced();
    firstSync();
  };

  const once = async (): Promise<void> => {
    const empty = await bucket.isEmpty(filter);
    const entries = await bucket.watch(filter);
    current = entries;
    let told = empty;
    if (empty) sync();
    for await (const entry of entries) {
      if (ended) return;
      if (entry.operation === "PUT") observer.set(entry.key, entry.json<T>());
      else observer.removed(entry.key);
      if (!told && entry.delta === 0) {
        told = true;
        sync();
      }
    }
  };
  const forever = async (): Promise<void> => {
    while (!ended && !link.isClosed) {
      try {
        await once();
      } catch {
        // The broker is away or just starting; the connection reports itself, here it is enough to try again.
      }
      if (!ended) await pause(retryPause);
    }
  };
  const forget = link.onReconnect(() => current?.stop());
  void forever();
  await synced;

  return () => {
    ended = true;
    forget();
    current?.stop();
  };
}
