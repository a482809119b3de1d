import { bucket, bucketStream, callbackStream, deadLetterStream } from "../../runtime/adapters/nats/stream-names.ts";

/**
 * The order in which streams are copied while calls continue, so that each accepted call is in at least one of them: a
 * record is written before its call is queued, a callback after its result, a request is kept after its
 * call has ended, and a dead letter before its call leaves the queue.
 */
const order: readonly (string | RegExp)[] = [
  bucketStream(bucket.calls),
  /^Q_[^_]/,
  callbackStream,
  bucketStream(bucket.results),
  bucketStream(bucket.requests),
  deadLetterStream,
  bucketStream(bucket.queues),
  bucketStream(bucket.functions),
  bucketStream(bucket.namespaces),
  bucketStream(bucket.endpoints),
];

/** The streams of Weir among `names`, in the order of a backup. */
export function inBackupOrder(names: readonly string[]): string[] {
  return order.flatMap((wanted) =>
    names.filter((name) => (typeof wanted === "string" ? name === wanted : wanted.test(name))).toSorted(),
  );
}

/**
 * Those of `existing` that `only` names; all of them without `only`.
 * @throws Error when it names one that does not exist
 */
export function chosen(existing: readonly string[], only: readonly string[] | undefined): readonly string[] {
  const unknown = (only ?? []).filter((name) => !existing.includes(name));
  if (unknown.length > 0)
    throw new Error(
      `Cannot take only "${unknown.join(", ")}": there are ${existing.join(", ") || "no streams of Weir"}`,
    );
  return only === undefined ? existing : existing.filter((name) => only.includes(name));
}
