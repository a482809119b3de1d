import { bucket, bucketStream, callbackStream, deadLetterStream } from "../../runtime/adapters/nats/stream-names.ts";

/**
 * What is copied while calls go on is copied later than what it follows from, so that no accepted call is in neither: a
 * record is written before its call is put into a queue, a callback after the result it is about, a dead letter before its
 * call leaves the queue.
 */
const order: readonly (string | RegExp)[] = [
  bucketStream(bucket.calls),
  /^Q_[^_]/,
  callbackStream,
  bucketStream(bucket.results),
  deadLetterStream,
  bucketStream(bucket.queues),
  bucketStream(bucket.functions),
  bucketStream(bucket.namespaces),
  bucketStream(bucket.endpoints),
];

/** The streams of Weir among `names`, in the order in which a backup takes them. */
export function inBackupOrder(names: readonly string[]): string[] {
  return order.flatMap((wanted) =>
    names.filter((name) => (typeof wanted === "string" ? name === wanted : wanted.test(name))).toSorted(),
  );
}

/**
 * Those of `there` that `only` names, all without it.
 * @throws Error when it names one that is not there
 */
export function chosen(there: readonly string[], only: readonly string[] | undefined): readonly string[] {
  const unknown = (only ?? []).filter((name) => !there.includes(name));
  if (unknown.length > 0)
    throw new Error(`Cannot take only "${unknown.join(", ")}": there are ${there.join(", ") || "no streams of Weir"}`);
  return only === undefined ? there : there.filter((name) => only.includes(name));
}
