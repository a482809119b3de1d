import type { LogRecord } from "../../../api/schemas/log-record.ts";
import { functionLabel } from "../../../api/names.ts";
import type { FunctionRef } from "../../../core/functions/function-ref.ts";
import type { LogQuery, LogSource } from "../../../core/ports/log-source.ts";
import { logLines, type LogLine } from "../../replica-logs/log-lines.ts";
import { endOfLines, mostEndLines } from "../../replica-logs/end-of-lines.ts";
import { nanoTime, readReplicaLogs, type LoggedReplicas, type LogRange } from "../../replica-logs/read-replica-logs.ts";
import type { KubeClient } from "../client/client.ts";
import type { FunctionWatch } from "./cached-function.ts";
import { kinds } from "../client/kinds.ts";
import type { KubeObject } from "../client/kube-types.ts";
import { listObjects } from "../client/list-objects.ts";
import type { ObservedPod } from "../manifests/status/observed-objects.ts";
import { placeOfKey } from "../watch/object-cache.ts";
import { podLogChunks } from "./pod-log-chunks.ts";

/** A pod in which the container of a function has run. */
interface LoggedPod {
  readonly id: string;
  readonly namespace: string;
  readonly container: string;
  /** When the container before the running one ended, RFC 3339. */
  readonly endedAt: string | undefined;
}

/** Milliseconds; each check is a request. */
const interval = 2_000;

/** Which functions there are, as their watch knows them. */
export type KnownFunctions = Pick<FunctionWatch, "find" | "listen">;

/**
 * Reads logs of functions from their pods, each a replica under its own name: the end of what its container wrote
 * before its last restart, of which the node keeps only one, and what it writes now.
 */
export class KubeLogSource implements LogSource {
  readonly #replicas: LoggedReplicas<LoggedPod>;

  constructor(client: KubeClient, functions: KnownFunctions) {
    this.#replicas = {
      interval,
      replicasOf: (ref) => podsOf(client, ref),
      knows: ({ namespace, name }) => functions.find(namespace, name) !== undefined,
      onChange: (changed) => functions.listen(({ key }) => changed(placeOfKey(key))),
      ended: (query, _known, signal) => beforeRestart(client, query, signal),
      lines: (pod, range, signal) => linesOf(client, pod, range, signal),
    };
  }

  read(query: LogQuery, signal: AbortSignal): AsyncIterable<LogRecord> {
    return readReplicaLogs(this.#replicas, query, signal);
  }
}

async function podsOf(client: KubeClient, { namespace, name }: FunctionRef): Promise<readonly LoggedPod[]> {
  const query = { namespace, labelSelector: `${functionLabel}=${name}` };
  const keep = ({ metadata, status }: KubeObject & Pick<ObservedPod, "status">): LoggedPod | undefined => {
    const container = status?.containerStatuses?.find((each) => each.name === name);
    const hasRun = container?.state?.running ?? container?.state?.terminated ?? container?.lastState?.terminated;
    if (status?.phase !== "Running" || hasRun === undefined) return undefined;
    // While the container waits for its restart, the current log is still that of the one that ended.
    const endedAt = container?.state?.running === undefined ? undefined : container.lastState?.terminated?.finishedAt;
    return { id: metadata.name ?? "", namespace, container: name, endedAt };
  };
  const { items } = await listObjects(client, kinds.pod, query, keep, { attempts: 1 });
  return items.filter((pod) => pod !== undefined);
}

async function beforeRestart(
  client: KubeClient,
  query: LogQuery,
  signal: AbortSignal,
): Promise<AsyncIterable<LogRecord>[]> {
  const { instance } = query;
  const pods = (await podsOf(client, query))
    .flatMap((pod) => (pod.endedAt === undefined || (instance ?? pod.id) !== pod.id ? [] : { ...pod, at: pod.endedAt }))
    .toSorted((a, b) => (a.at < b.at ? -1 : 1));
  return pods.map((pod) => endOfPrevious(client, pod, query, signal));
}

async function* endOfPrevious(
  client: KubeClient,
  pod: LoggedPod,
  { name, namespace, since, tail }: LogQuery,
  signal: AbortSignal,
): AsyncGenerator<LogRecord> {
  const range = { since: since === undefined ? undefined : nanoTime(since), tail: mostEndLines, follow: false };
  const lines = await endOfLines(linesOf(client, pod, { ...range, previous: true }, signal));
  for (const { timestamp, text } of tail === undefined ? lines : lines.slice(-tail))
    yield { name, namespace, instance: pod.id, timestamp, text: `${text}\n` };
}

async function* linesOf(
  client: KubeClient,
  { id, namespace, container }: LoggedPod,
  { since, tail, follow, previous }: LogRange & { readonly previous?: boolean },
  signal: AbortSignal,
): AsyncGenerator<LogLine> {
  const place = { namespace, name: id, subresource: "log" };
  const query = {
    container,
    timestamps: true,
    sinceTime: since,
    tailLines: tail,
    follow: follow || undefined,
    previous,
  };
  try {
    const stream = await client.open(kinds.pod, place, query, { signal, attempts: 1 });
    yield* logLines(podLogChunks(stream));
  } catch {
    // The pod is gone, its container is about to start, the reader has stopped, or the API server is unavailable.
  }
}
