import type { FunctionRef } from "../../../core/functions/function-ref.ts";
import type { JsonBucket } from "./bucket-json.ts";
import { watchBucket } from "./bucket-watch.ts";
import type { NatsLink } from "../link/nats-link.ts";
import { parseFunctionKey } from "../stream-names.ts";

/** Watches a bucket with one value per function. */
export function watchFunctions<T>(
  link: NatsLink,
  bucket: JsonBucket<T>,
  observer: { set(value: T): void; removed(ref: FunctionRef): void; synced(): void },
): Promise<() => void> {
  return watchBucket(link, bucket, ">", {
    set: (_key, value) => observer.set(value),
    removed: (key) => {
      const ref = parseFunctionKey(key);
      if (ref !== undefined) observer.removed(ref);
    },
    synced: () => observer.synced(),
  });
}
