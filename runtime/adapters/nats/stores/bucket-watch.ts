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
 * Reports all values of a bucket whose keys match `filter`, then every change. After a reconnection all values are
 * reported again, so that no change is missed; the bucket's markers stand for removals.
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

  const watchOnce = async (): Promise<void> => {
    const empty = await bucket.isEmpty(filter);
    const entries = await bucket.watch(filter);
    current = entries;
    let isSynced = empty;
    if (empty) sync();
    for await (const entry of entries) {
      if (ended) return;
      if (entry.operation === "PUT") observer.set(entry.key, entry.json<T>());
      else observer.removed(entry.key);
      if (!isSynced && entry.delta === 0) {
        isSynced = true;
        sync();
      }
    }
  };
  const keepWatching = async (): Promise<void> => {
    while (!ended && !link.isClosed) {
      try {
        await watchOnce();
      } catch {
        // The broker is unavailable or just starting. The connection reports that; here a retry is enough.
      }
      if (!ended) await pause(retryPause);
    }
  };
  const unsubscribe = link.onReconnect(() => current?.stop());
  void keepWatching();
  await synced;

  return () => {
    ended = true;
    unsubscribe();
    current?.stop();
  };
}
