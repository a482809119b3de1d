import { setTimeout as pause } from "node:timers/promises";

import type { LogRecord } from "../../api/schemas/log-record.ts";
import type { FunctionRef } from "../../core/functions/function-ref.ts";
import type { LogQuery } from "../../core/ports/log-source.ts";
import type { LogLine } from "./log-lines.ts";
import { mergeByTime } from "./merge-by-time.ts";
import { MergedStreams } from "./merge-streams.ts";
import { ReadPosition } from "./read-position.ts";

/** Which lines of a replica's log. */
export interface LogRange {
  /** RFC 3339 with nanoseconds, UTC: start of the range, though some older lines may still come. */
  readonly since: string | undefined;
  /** Most chunks of lines from before now; undefined: all. */
  readonly tail: number | undefined;
  /** Continue with what is written from now on. */
  readonly follow: boolean;
}

/** Replicas of functions whose logs are kept elsewhere, such as by a container engine. */
export interface LoggedReplicas<R extends { readonly id: string }> {
  /** Replicas whose log can be read now. */
  replicasOf(ref: FunctionRef): Promise<readonly R[]>;
  /** Whether the function exists; it also counts as existing while it has a replica. */
  knows(ref: FunctionRef): boolean;
  /** Calls `changed` when the replicas of a function may have changed; the returned function ends that. */
  onChange(changed: (ref: FunctionRef) => void): () => void;
  /** The lines in order; ends without an error when the replica is gone or the log store unavailable. */
  lines(replica: R, range: LogRange, signal: AbortSignal): AsyncIterable<LogLine>;
  /**
   * What is kept of each ended replica that is not in `known`, oldest first; adds their ids to `known`. Absent: nothing
   * is kept. Of a replica that was restarted under the same id it is what it wrote before.
   */
  ended?(query: LogQuery, known: Set<string>, signal: AbortSignal): Promise<readonly AsyncIterable<LogRecord>[]>;
  /** How often a followed function is checked when no change is reported; milliseconds. */
  readonly interval: number;
}

/** Log stores keep and count chunks of 16 KiB: this many hold the longest line that is not truncated. */
const chunksPerLine = 5;

/**
 * Reads the logs of all replicas of a function as a `LogSource` does: first what is kept of ended replicas and what the
 * others have written so far, in order of time, then lines as they come. A followed log continues across restarts of a
 * replica, includes new replicas, and ends when the function, once it existed, is gone. Rejects when the first
 * `replicasOf` does; later ones are retried.
 */
export async function* readReplicaLogs<R extends { readonly id: string }>(
  replicas: LoggedReplicas<R>,
  query: LogQuery,
  signal: AbortSignal,
): AsyncGenerator<LogRecord> {
  if (signal.aborted) return;
  const merged = new MergedStreams<LogRecord>();
  const seen = new Set<string>();
  const finished = new AbortController();
  const stopSignal = AbortSignal.any([signal, finished.signal]);
  const unseenIn = (found: readonly R[]): readonly R[] => {
    const unseen = found.filter(({ id }) => !seen.has(id) && (query.instance === undefined || query.instance === id));
    for (const { id } of unseen) seen.add(id);
    return unseen;
  };
  /** Adds new replicas; resolves with whether there is any. */
  const look = async (): Promise<boolean> => {
    const found = await replicas.replicasOf(query);
    for (const replica of unseenIn(found)) {
      merged.add(readReplica(replicas, replica, { ...query, tail: undefined }, new ReadPosition(), stopSignal));
    }
    return found.length > 0;
  };
  signal.addEventListener("abort", () => merged.close(), { once: true, signal: finished.signal });
  try {
    const found = await replicas.replicasOf(query);
    const initial = unseenIn(found).map((replica) => ({ replica, position: new ReadPosition() }));
    const ended = (await replicas.ended?.(query, seen, stopSignal)) ?? [];
    const backlog = initial.map(({ replica, position }) =>
      readReplica(replicas, replica, { ...query, follow: false, isContinued: query.follow }, position, stopSignal),
    );
    for await (const record of mergeByTime([...ended, ...backlog])) {
      if (signal.aborted) return;
      yield record;
    }
    if (!query.follow || signal.aborted) return;
    for (const { replica, position } of initial) {
      merged.add(readReplica(replicas, replica, { ...query, tail: undefined }, position, stopSignal));
    }
    follow(replicas, query, { hasReplicas: found.length > 0, look, merged, signal: stopSignal });
    for await (const record of merged.values()) {
      if (signal.aborted) return;
      yield record;
    }
  } finally {
    finished.abort();
  }
}

interface Following {
  readonly hasReplicas: boolean;
  readonly look: () => Promise<boolean>;
  readonly merged: MergedStreams<LogRecord>;
  readonly signal: AbortSignal;
}

/** Looks for new replicas until the function is gone, or `signal` aborts. */
function follow<R extends { readonly id: string }>(
  replicas: LoggedReplicas<R>,
  ref: FunctionRef,
  { hasReplicas, look, merged, signal }: Following,
): void {
  let existed = hasReplicas || replicas.knows(ref);
  let looking = false;
  let again = false;
  const run = async (): Promise<void> => {
    again = looking;
    if (looking || signal.aborted) return;
    looking = true;
    // A failed look changes nothing: the next one follows.
    const found = await look().catch(() => existed);
    looking = false;
    const exists = found || replicas.knows(ref);
    if (existed && !exists) merged.close();
    existed ||= exists;
    if (again) void run();
  };
  const timer = setInterval(() => void run(), replicas.interval).unref();
  const unsubscribe = replicas.onChange(({ namespace, name }) => {
    if (namespace === ref.namespace && name === ref.name) void run();
  });
  const end = (): void => {
    clearInterval(timer);
    unsubscribe();
  };
  signal.addEventListener("abort", end, { once: true });
  void run();
}

interface ReplicaQuery extends LogQuery {
  /** It is read on from where this ends. */
  readonly isContinued?: boolean;
}

/**
 * Reads what one replica wrote after `position` and, if followed, what it writes until it is gone; resumes where it was
 * when the log was unavailable.
 */
async function* readReplica<R extends { readonly id: string }>(
  replicas: LoggedReplicas<R>,
  replica: R,
  query: ReplicaQuery,
  position: ReadPosition,
  signal: AbortSignal,
): AsyncGenerator<LogRecord> {
  const { name, namespace, follow: followed, tail, isContinued = false } = query;
  const since = query.since === undefined ? undefined : nanoTime(query.since);
  const record = (line: LogLine): LogRecord => lineRecord({ name, namespace }, replica.id, line);
  let from = since ?? "";
  if (tail !== undefined) {
    const tailRange = { since, tail: tail * chunksPerLine, follow: false };
    from = (await firstOfLast(replicas.lines(replica, tailRange, signal), tail, from)) ?? from;
  }
  for (;;) {
    const range = { since: position.since ?? (from || undefined), tail: undefined, follow: followed };
    for await (const line of replicas.lines(replica, range, signal)) {
      if (line.timestamp >= from) for (const each of position.next(line)) yield record(each);
    }
    if (isContinued) return;
    if (!followed) break;
    await pause(replicas.interval, undefined, { signal }).catch(() => {});
    if (signal.aborted || !(await stillExists(replicas, query, replica.id))) break;
  }
  for (const line of position.rest()) yield record(line);
}

/** A line of a replica as a record, with its newline. */
export function lineRecord({ name, namespace }: FunctionRef, instance: string, line: LogLine): LogRecord {
  const { isUnfinished: _, text, ...rest } = line;
  return { name, namespace, instance, ...rest, text: `${text}\n` };
}

async function stillExists<R extends { readonly id: string }>(
  replicas: LoggedReplicas<R>,
  ref: FunctionRef,
  id: string,
): Promise<boolean> {
  const found = await replicas.replicasOf(ref).catch(() => undefined);
  return found === undefined || found.some((replica) => replica.id === id);
}

/** The time of the first of the last `count` lines since `from`. The lines themselves may be too many to buffer. */
async function firstOfLast(lines: AsyncIterable<LogLine>, count: number, from: string): Promise<string | undefined> {
  let times: string[] = [];
  for await (const { timestamp } of lines) {
    if (timestamp < from) continue;
    times.push(timestamp);
    if (times.length > 2 * count) times = times.slice(-count);
  }
  return times.at(-Math.min(count, times.length));
}

/** Unix milliseconds as RFC 3339 with nanoseconds, UTC. */
export function nanoTime(time: number): string {
  return new Date(time).toISOString().replace("Z", "000000Z");
}
