import { setTimeout as pause } from "node:timers/promises";

import type { LogRecord } from "../../api/schemas/log-record.ts";
import type { FunctionRef } from "../../core/functions/function-ref.ts";
import type { LogQuery } from "../../core/ports/log-source.ts";
import type { LogLine } from "./log-lines.ts";
import { mergeByTime } from "./merge-by-time.ts";
import { MergedStreams } from "./merge-streams.ts";

/** Which lines of a replica's log. */
export interface LogRange {
  /** RFC 3339 with nanoseconds, UTC: no older ones; some that are may come all the same. */
  readonly since: string | undefined;
  /** Most pieces of lines from before now; undefined: all. */
  readonly tail: number | undefined;
  /** Go on with what is written from now on. */
  readonly follow: boolean;
}

/** The replicas of functions whose logs something else keeps. */
export interface LoggedReplicas<R extends { readonly id: string }> {
  /** Those whose log can be read now. */
  replicasOf(ref: FunctionRef): Promise<readonly R[]>;
  /** Whether a function is there; while one of its replicas is it counts as there anyhow. */
  knows(ref: FunctionRef): boolean;
  /** Calls `changed` when there may be other replicas; what it gives back ends that. */
  onChange(changed: (ref: FunctionRef) => void): () => void;
  /** The lines in order; they just end when the replica, or who keeps its log, is away. */
  lines(replica: R, range: LogRange, signal: AbortSignal): AsyncIterable<LogLine>;
  /**
   * What is kept of each replica that ended, oldest first, without those in `known`, to which it adds them; absent: nothing is.
   * One that was started again under the same id has there what it wrote before.
   */
  ended?(query: LogQuery, known: Set<string>, signal: AbortSignal): Promise<readonly AsyncIterable<LogRecord>[]>;
  /** How often a followed function is looked at when nothing was told of it; milliseconds. */
  readonly interval: number;
}

/** Logs are kept in pieces of 16 KiB, and those are counted: so many make the longest line that is not cut. */
const piecesPerLine = 5;

/** How far a replica was read. */
interface Progress {
  /** Time of its last line, or empty. */
  last: string;
}

/**
 * Reads the logs of all replicas of a function as a `LogSource` does: what is kept of ended ones and what the others wrote so far
 * in the order of time, and then lines as they come. A followed log goes on across restarts of a replica, takes in replicas that
 * come, and ends when nothing of the function, once there, is left. Rejects as the first `replicasOf` does; later ones are
 * asked again.
 */
export async function* readReplicaLogs<R extends { readonly id: string }>(
  replicas: LoggedReplicas<R>,
  query: LogQuery,
  signal: AbortSignal,
): AsyncGenerator<LogRecord> {
  if (signal.aborted) return;
  const merged = new MergedStreams<LogRecord>();
  const seen = new Set<string>();
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  const newOf = (found: readonly R[]): readonly R[] => {
    const fresh = found.filter(({ id }) => !seen.has(id) && (query.instance === undefined || query.instance === id));
    for (const { id } of fresh) seen.add(id);
    return fresh;
  };
  /** Whether there is any. */
  const look = async (): Promise<boolean> => {
    const found = await replicas.replicasOf(query);
    for (const replica of newOf(found)) {
      merged.add(readReplica(replicas, replica, { ...query, tail: undefined }, { last: "" }, either));
    }
    return found.length > 0;
  };
  signal.addEventListener("abort", () => merged.close(), { once: true, signal: over.signal });
  try {
    const found = await replicas.replicasOf(query);
    const begun = newOf(found).map((replica) => ({ replica, progress: { last: "" } }));
    const ended = (await replicas.ended?.(query, seen, either)) ?? [];
    const backlog = begun.map(({ replica, progress }) =>
      readReplica(replicas, replica, { ...query, follow: false }, progress, either),
    );
    for await (const record of mergeByTime([...ended, ...backlog])) {
      if (signal.aborted) return;
      yield record;
    }
    if (!query.follow) return;
    for (const { replica, progress } of begun) {
      merged.add(readReplica(replicas, replica, { ...query, tail: undefined }, progress, either));
    }
    follow(replicas, query, { isThere: found.length > 0, look, merged, signal: either });
    for await (const record of merged.values()) {
      if (signal.aborted) return;
      yield record;
    }
  } finally {
    over.abort();
  }
}

interface Following {
  readonly isThere: boolean;
  readonly look: () => Promise<boolean>;
  readonly merged: MergedStreams<LogRecord>;
  readonly signal: AbortSignal;
}

/** Looks for new replicas until the function is gone, or `signal` aborts. */
function follow<R extends { readonly id: string }>(
  replicas: LoggedReplicas<R>,
  ref: FunctionRef,
  { isThere, look, merged, signal }: Following,
): void {
  let wasThere = isThere || replicas.knows(ref);
  let looking = false;
  let again = false;
  const run = async (): Promise<void> => {
    again = looking;
    if (looking || signal.aborted) return;
    looking = true;
    // Whoever knows the replicas is away: they are looked at again.
    const is = await look().catch(() => wasThere);
    looking = false;
    const isNow = is || replicas.knows(ref);
    if (wasThere && !isNow) merged.close();
    wasThere ||= isNow;
    if (again) void run();
  };
  const timer = setInterval(() => void run(), replicas.interval).unref();
  const unhear = replicas.onChange(({ namespace, name }) => {
    if (namespace === ref.namespace && name === ref.name) void run();
  });
  const end = (): void => {
    clearInterval(timer);
    unhear();
  };
  signal.addEventListener("abort", end, { once: true });
  void run();
}

/**
 * What one replica wrote after `progress` and, if it is followed, writes until it is gone; goes on where it was when the log
 * was away.
 */
async function* readReplica<R extends { readonly id: string }>(
  replicas: LoggedReplicas<R>,
  replica: R,
  query: LogQuery,
  progress: Progress,
  signal: AbortSignal,
): AsyncGenerator<LogRecord> {
  const { name, namespace, follow: goesOn, tail } = query;
  const since = query.since === undefined ? undefined : nanoTime(query.since);
  let from = since ?? "";
  if (tail !== undefined) {
    const pieces = { since, tail: tail * piecesPerLine, follow: false };
    from = (await firstOfLast(replicas.lines(replica, pieces, signal), tail, from)) ?? from;
  }
  for (;;) {
    const range = { since: progress.last || from || undefined, tail: undefined, follow: goesOn };
    for await (const { timestamp, text } of replicas.lines(replica, range, signal)) {
      if (timestamp <= progress.last || timestamp < from) continue;
      progress.last = timestamp;
      yield { name, namespace, instance: replica.id, timestamp, text: `${text}\n` };
    }
    if (!goesOn) return;
    await pause(replicas.interval, undefined, { signal }).catch(() => {});
    if (signal.aborted || !(await isStillThere(replicas, query, replica.id))) return;
  }
}

async function isStillThere<R extends { readonly id: string }>(
  replicas: LoggedReplicas<R>,
  ref: FunctionRef,
  id: string,
): Promise<boolean> {
  const found = await replicas.replicasOf(ref).catch(() => undefined);
  return found === undefined || found.some((replica) => replica.id === id);
}

/** The time of the first of the last `count` lines since `from`; the lines themselves may be more than should be held. */
async function firstOfLast(lines: AsyncIterable<LogLine>, count: number, from: string): Promise<string | undefined> {
  let times: string[] = [];
  for await (const { timestamp } of lines) {
    if (timestamp < from) continue;
    times.push(timestamp);
    if (times.length > 2 * count) times = times.slice(-count);
  }
  return times.at(-Math.min(count, times.length));
}

/** RFC 3339 with nanoseconds, UTC. */
export function nanoTime(time: number): string {
  return new Date(time).toISOString().replace("Z", "000000Z");
}
