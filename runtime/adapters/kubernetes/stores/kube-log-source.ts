import type { LogRecord } from "../../../api/schemas/log-record.ts";
import { functionLabel } from "../../../api/names.ts";
import type { FunctionRef } from "../../../core/functions/function-ref.ts";
import type { LogQuery, LogSource } from "../../../core/ports/log-source.ts";
import { endOfLines, mostEndLines } from "../../replica-logs/end-of-lines.ts";
import type { LogLine } from "../../replica-logs/log-lines.ts";
import { lineRecord, nanoTime, readReplicaLogs, type LoggedReplicas } from "../../replica-logs/read-replica-logs.ts";
import type { KubeClient } from "../client/client.ts";
import type { FunctionWatch } from "./cached-function.ts";
import { kinds } from "../client/kinds.ts";
import type { KubeObject } from "../client/kube-types.ts";
import { listObjects } from "../client/list-objects.ts";
import type { ObservedPod } from "../manifests/status/observed-objects.ts";
import { placeOfKey } from "../watch/object-cache.ts";
import { podLines, type LoggedPod, type ReadPodLines } from "./pod-lines.ts";

/** Milliseconds; each check may be a request. */
const interval = 2_000;

/** The pods of functions. */
export interface LoggedPods {
  /** Those in which the container of the function has run. */
  podsOf(ref: FunctionRef): Promise<readonly LoggedPod[]>;
  /** Whether the function exists; it also counts as existing while it has a pod. */
  knows(ref: FunctionRef): boolean;
  /** Calls `changed` when the pods of a function may have changed; the returned function ends that. */
  onChange(changed: (ref: FunctionRef) => void): () => void;
}

/** Which functions there are, as their watch knows them. */
export type KnownFunctions = Pick<FunctionWatch, "find" | "listen">;

/**
 * Reads logs of functions from their pods, each a replica under its own name: the end of what its container wrote
 * before its last restart, of which the node keeps only one, and what it writes now.
 */
export class KubeLogSource implements LogSource {
  readonly #replicas: LoggedReplicas<LoggedPod>;

  constructor(pods: LoggedPods, lines: ReadPodLines) {
    this.#replicas = {
      interval,
      replicasOf: (ref) => pods.podsOf(ref),
      knows: (ref) => pods.knows(ref),
      onChange: (changed) => pods.onChange(changed),
      ended: async (query, _known, signal) => beforeRestart(await pods.podsOf(query), lines, query, signal),
      lines,
    };
  }

  read(query: LogQuery, signal: AbortSignal): AsyncIterable<LogRecord> {
    return readReplicaLogs(this.#replicas, query, signal);
  }
}

/** Reads logs where only those that are asked for are read: pods are listed for each request. */
export function listedPodLogs(client: KubeClient, functions: KnownFunctions): KubeLogSource {
  const pods: LoggedPods = {
    podsOf: (ref) => listPods(client, ref),
    knows: ({ namespace, name }) => functions.find(namespace, name) !== undefined,
    onChange: (changed) => functions.listen(({ key }) => changed(placeOfKey(key))),
  };
  return new KubeLogSource(pods, podLines(client));
}

/** What its watch keeps of a pod. */
export interface StartedPod extends LoggedPod {
  /** Of the last container that ran, RFC 3339. */
  readonly startedAt: string | undefined;
}

/** What is read of a pod of a function for its log; undefined while its container has not run. */
export function loggedPodOf({ metadata, status }: KubeObject & Pick<ObservedPod, "status">): StartedPod | undefined {
  const { name: id = "", namespace = "", labels, creationTimestamp } = metadata;
  const name = labels?.[functionLabel];
  const container = status?.containerStatuses?.find((each) => each.name === name);
  const before = container?.lastState?.terminated;
  const hasRun = container?.state?.running ?? container?.state?.terminated ?? before;
  if (name === undefined || status?.phase !== "Running" || hasRun === undefined) return undefined;
  // While the container waits for its restart, the current log is still that of the one that ended.
  const endedAt = container?.state?.running === undefined ? undefined : before?.finishedAt;
  return { id, namespace, container: name, endedAt, startedAt: hasRun.startedAt ?? creationTimestamp };
}

async function listPods(client: KubeClient, { namespace, name }: FunctionRef): Promise<readonly LoggedPod[]> {
  const query = { namespace, labelSelector: `${functionLabel}=${name}` };
  const { items } = await listObjects(client, kinds.pod, query, loggedPodOf, { attempts: 1 });
  return items.filter((pod) => pod !== undefined);
}

function beforeRestart(
  found: readonly LoggedPod[],
  lines: ReadPodLines,
  query: LogQuery,
  signal: AbortSignal,
): readonly AsyncIterable<LogRecord>[] {
  const { instance } = query;
  const pods = found
    .flatMap((pod) => (pod.endedAt === undefined || (instance ?? pod.id) !== pod.id ? [] : { ...pod, at: pod.endedAt }))
    .toSorted((a, b) => (a.at < b.at ? -1 : 1));
  return pods.map((pod) => endOfPrevious(pod, lines, query, signal));
}

async function* endOfPrevious(
  pod: LoggedPod,
  linesOf: ReadPodLines,
  { name, namespace, since, tail }: LogQuery,
  signal: AbortSignal,
): AsyncGenerator<LogRecord> {
  const lines = await previousEnd(linesOf, pod, since === undefined ? undefined : nanoTime(since), signal);
  for (const line of tail === undefined ? lines : lines.slice(-tail))
    yield lineRecord({ name, namespace }, pod.id, line);
}

/** The end of what the container of a pod wrote before its last restart; `since` is RFC 3339 with nanoseconds, UTC. */
export function previousEnd(
  linesOf: ReadPodLines,
  pod: LoggedPod,
  since: string | undefined,
  signal: AbortSignal,
): Promise<readonly LogLine[]> {
  return endOfLines(linesOf(pod, { since, tail: mostEndLines, follow: false, previous: true }, signal));
}
