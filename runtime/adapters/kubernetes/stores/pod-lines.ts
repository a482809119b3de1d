import { logLines, type LogLine } from "../../replica-logs/log-lines.ts";
import type { LogRange } from "../../replica-logs/read-replica-logs.ts";
import type { KubeClient } from "../client/client.ts";
import { kinds } from "../client/kinds.ts";
import { podLogChunks } from "./pod-log-chunks.ts";

/** A pod in which the container of a function has run. */
export interface LoggedPod {
  readonly id: string;
  readonly namespace: string;
  readonly container: string;
  /** When the container before the running one ended, RFC 3339. */
  readonly endedAt: string | undefined;
}

/** Which lines of a pod. */
export interface PodLogRange extends LogRange {
  /** Of the container before the running one. */
  readonly previous?: boolean;
}

/** Reads lines of a pod in order; ends without an error when the pod is gone or its log cannot be read. */
export type ReadPodLines = (pod: LoggedPod, range: PodLogRange, signal: AbortSignal) => AsyncIterable<LogLine>;

/** Reads lines of pods by the API server. */
export function podLines(client: KubeClient): ReadPodLines {
  return (pod, range, signal) => linesOf(client, pod, range, signal);
}

async function* linesOf(
  client: KubeClient,
  { id, namespace, container }: LoggedPod,
  { since, tail, follow, previous }: PodLogRange,
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
