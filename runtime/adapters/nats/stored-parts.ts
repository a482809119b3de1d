import { auditStream, bucket, bucketStream, callbackStream, deadLetterStream, queueOfStream } from "./stream-names.ts";

/** What a stream holds, in the words of the platform. */
export interface StoredPart {
  /** As in `queue "default"`. */
  readonly name: string;
  /** What is missing without it, and what that means. */
  readonly loss: string;
  /** How `--recreate` names it; undefined when it is created again without being asked. */
  readonly recreate: string | undefined;
}

const parts: Readonly<Record<string, Omit<StoredPart, "recreate">>> = {
  [callbackStream]: {
    name: "callbacks",
    loss: "callbacks that waited to be sent; their callers can ask for the results",
  },
  [deadLetterStream]: { name: "dead letters", loss: "the dead letters, which can no longer be redriven" },
  [bucketStream(bucket.calls)]: {
    name: "call records",
    loss: "the states of calls: asking for one answers 404, and its callback is not sent",
  },
  [bucketStream(bucket.results)]: { name: "results", loss: "the kept results of calls" },
  [bucketStream(bucket.requests)]: {
    name: "kept requests",
    loss: "the requests of earlier calls, which cannot be replayed",
  },
  [bucketStream(bucket.queues)]: { name: "queue declarations", loss: "nothing: they are declared again" },
  [bucketStream(bucket.sessions)]: { name: "sessions", loss: "the sessions of the console: people sign in again" },
  [bucketStream(bucket.functions)]: { name: "functions", loss: "the functions: deploy them again" },
  [bucketStream(bucket.namespaces)]: { name: "namespaces", loss: "the namespaces: create them again" },
  [bucketStream(bucket.endpoints)]: { name: "endpoints", loss: "nothing: they are published again" },
  [auditStream.change]: { name: "audit trail of changes", loss: "the audit trail of changes" },
  [auditStream.refusal]: { name: "audit trail of refusals", loss: "the audit trail of refusals" },
};

/** What a stream of this name holds. */
export function storedPart(stream: string): StoredPart {
  const queue = queueOfStream(stream);
  if (queue !== undefined) return { name: `queue "${queue}"`, loss: "the calls that waited in it", recreate: queue };
  const known = parts[stream] ?? { name: `stream "${stream}"`, loss: "what it held" };
  return { ...known, recreate: stream === callbackStream ? stream : undefined };
}
