import type { LogRecord } from "../../../api/schemas/log-record.ts";
import type { KeptLine, KeptLogs } from "../../ports/kept-logs.ts";
import type { LogQuery, LogSource } from "../../ports/log-source.ts";
import { compareLogMoments, parseLogMoment, type LogMoment } from "./log-moment.ts";
import { readKeptLines } from "./read-kept-lines.ts";

export interface LogHistoryParts {
  readonly kept: KeptLogs;
  readonly logs: LogSource;
}

/** A log query that ends at a time. */
export interface BoundedLogQuery extends LogQuery {
  /** Unix milliseconds, exclusive. */
  readonly until: number | undefined;
}

/**
 * The kept lines of replicas whose log is gone, in the order of their times, then the log as its source reads it. Where
 * that begins later than the kept lines of a replica, those come before it. No line comes twice.
 */
export async function* logsWithHistory(
  { kept, logs }: LogHistoryParts,
  query: BoundedLogQuery,
  signal: AbortSignal,
): AsyncGenerator<LogRecord> {
  const { until, ...asked } = query;
  const { tail } = asked;
  const present = await presentReplicas(logs, asked, signal);
  /** How far kept lines of each replica were shown. */
  const shown = new Map<string, LogMoment>();
  for await (const { place, ...record } of goneLines(kept, query, present, signal)) {
    shown.set(record.instance, { at: place[0], nanos: place[1] });
    yield record;
  }
  const begun = new Set(shown.keys());
  for await (const record of logs.read(asked, signal)) {
    const moment = parseLogMoment(record.timestamp);
    if (moment === undefined || (until !== undefined && moment.at >= until)) continue;
    const before = shown.get(record.instance);
    // Of a replica that has started since the look.
    if (before !== undefined && compareLogMoments(moment, before) <= 0) continue;
    if (tail === undefined && !begun.has(record.instance)) {
      begun.add(record.instance);
      yield* linesBefore(kept, query, record.instance, moment, signal);
    }
    yield record;
  }
}

/** Replicas whose log can still be read from its source. */
async function presentReplicas(logs: LogSource, query: LogQuery, signal: AbortSignal): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  const newest = logs.read({ ...query, tail: 1, since: undefined, follow: false }, signal);
  for await (const { instance } of newest) found.add(instance);
  return found;
}

async function* goneLines(
  kept: KeptLogs,
  query: BoundedLogQuery,
  present: ReadonlySet<string>,
  signal: AbortSignal,
): AsyncGenerator<KeptLine> {
  const range = rangeOf(query);
  if (query.tail === undefined) {
    for await (const line of readKeptLines(kept, range, signal)) if (!present.has(line.instance)) yield line;
    return;
  }
  const replicas = (await kept.lineReplicas(query)).filter(
    (instance) => !present.has(instance) && (query.instance === undefined || query.instance === instance),
  );
  for (const instance of replicas.toReversed())
    yield* (await kept.lines({ ...range, instance, newest: true, limit: query.tail })).lines;
}

async function* linesBefore(
  kept: KeptLogs,
  query: BoundedLogQuery,
  instance: string,
  moment: LogMoment,
  signal: AbortSignal,
): AsyncGenerator<LogRecord> {
  const range = { ...rangeOf(query), instance, until: moment.at + 1 };
  for await (const { place, ...record } of readKeptLines(kept, range, signal))
    if (compareLogMoments({ at: place[0], nanos: place[1] }, moment) < 0) yield record;
}

function rangeOf({ namespace, name, instance, since, until }: BoundedLogQuery) {
  return {
    namespace,
    name,
    ...(instance === undefined ? {} : { instance }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
  };
}
