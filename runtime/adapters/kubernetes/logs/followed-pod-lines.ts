import { once } from "node:events";

import type { LogLine } from "../../replica-logs/log-lines.ts";
import { nanoTime } from "../../replica-logs/read-replica-logs.ts";
import { previousEnd } from "../stores/kube-log-source.ts";
import type { LoggedPod, PodLogRange, ReadPodLines } from "../stores/pod-lines.ts";
import type { FollowedPod, FollowedPods } from "./followed-pods.ts";

/**
 * Reads lines of the pods that are followed; of each other one, a line says once that it is not. After a restart of its
 * container, which may have been quick, the end of what that wrote before comes first.
 */
export function followedPodLines(pods: FollowedPods, read: ReadPodLines, now: () => number = Date.now): ReadPodLines {
  return async function* (pod, range, signal) {
    const followed = pods.find(`${pod.namespace}/${pod.id}`);
    if (followed === undefined) return;
    if (range.follow) {
      yield* followPod({ pods, read, now }, pod, range, signal);
    } else if (followed.isFollowed) {
      // The end of what it wrote before its restart is asked for apart.
      followed.readEnd = followed.endedAt;
      yield* read(pod, range, signal);
    }
  };
}

interface FollowParts {
  readonly pods: FollowedPods;
  readonly read: ReadPodLines;
  readonly now: () => number;
}

async function* followPod(
  { pods, read, now }: FollowParts,
  pod: LoggedPod,
  range: PodLogRange,
  signal: AbortSignal,
): AsyncGenerator<LogLine> {
  let { since } = range;
  const key = `${pod.namespace}/${pod.id}`;
  for (let state = pods.find(key); state !== undefined && !signal.aborted; state = pods.find(key)) {
    const over = state.over.signal;
    if (!state.isFollowed) {
      const note = noteOf(state, pods.max, now());
      if (note !== undefined) yield note;
      await aborted(AbortSignal.any([over, signal]));
      continue;
    }
    const stop = AbortSignal.any([over, signal]);
    const { endedAt } = state;
    if (endedAt !== undefined && endedAt !== state.readEnd) yield* await previousEnd(read, pod, since, stop);
    state.readEnd = endedAt;
    for await (const line of read(pod, { ...range, since }, stop)) {
      since = line.timestamp;
      yield line;
    }
    // The container has ended: whoever reads looks whether there is another.
    if (!over.aborted) return;
  }
}

/** The line that stands for those that are not kept; undefined if it was written. */
function noteOf(state: FollowedPod, max: number, now: number): LogLine | undefined {
  if (state.isNoted) return undefined;
  state.isNoted = true;
  return { timestamp: nanoTime(now), text: `not kept: ${max} streams are followed` };
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
}
