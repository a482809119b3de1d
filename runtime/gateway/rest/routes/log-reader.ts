import { PlatformError } from "../../../api/platform-error.ts";
import type { LogRecord } from "../../../api/schemas/log-record.ts";
import { parseLogMoment } from "../../../core/history/logs/log-moment.ts";
import { logsWithHistory, type BoundedLogQuery } from "../../../core/history/logs/logs-with-history.ts";
import type { KeptLogSelection } from "../../../core/replicas/log-query.ts";
import type { AppParts } from "../app-parts.ts";
import { linesOfCall, requiredLogs } from "./history/call-logs.ts";
import { readKnownCall } from "./history/known-call.ts";
import { requiredHistory } from "./history/required-history.ts";

export interface LogReaderParts extends Pick<AppParts, "logs" | "history"> {
  readonly ledger: AppParts["queueParts"]["ledger"];
}

type AskedLog = BoundedLogQuery & KeptLogSelection;

/**
 * What reads the log that a request asks for.
 * @throws PlatformError before anything was read: `not_built`, `call_not_found`, `history_off`, `history_unavailable`
 */
export async function logReader(
  parts: LogReaderParts,
  asked: AskedLog,
): Promise<(signal: AbortSignal) => AsyncIterable<LogRecord>> {
  if (asked.call !== undefined) {
    const records = await recordsOfCall(parts, asked, asked.call);
    return () => streamOf(records);
  }
  const { logs } = parts;
  if (logs === undefined) throw new PlatformError("not_built", "Cannot read logs: this provider keeps none");
  const { namespace, name, instance, tail, since, follow, until } = asked;
  const query = { namespace, name, instance, tail, since, follow };
  if (!asked.history)
    return (signal) => (until === undefined ? logs.read(query, signal) : before(logs.read(query, signal), until));
  const act = `read kept logs of function "${name}"`;
  const { reads: kept } = requiredLogs(requiredHistory(parts.history, act), act);
  // Whether they can be read shows before the response begins.
  await kept.lineReplicas({ namespace, name });
  return (signal) => logsWithHistory({ kept, logs }, { ...query, until }, signal);
}

async function recordsOfCall(parts: LogReaderParts, asked: AskedLog, id: string): Promise<readonly LogRecord[]> {
  const { ledger } = parts;
  const { namespace, name, instance, since, until, tail } = asked;
  const act = `read the logs of call "${id}"`;
  const history = requiredHistory(parts.history, act);
  const known = await readKnownCall(ledger, history, id);
  if (known === undefined || known.call.row.name !== name || known.call.row.namespace !== namespace)
    throw new PlatformError("call_not_found", `Cannot ${act}: function "${name}" has no such call, or it expired`);
  const lines = await linesOfCall(history, act, known.call, ledger.now());
  const records = lines.flatMap(({ line: { place, ...record } }) => {
    const [at] = place;
    const isAsked = at >= (since ?? at) && at < (until ?? at + 1) && (instance ?? record.instance) === record.instance;
    return isAsked ? [record] : [];
  });
  return tail === undefined ? records : records.filter((record) => isOfLast(records, record, tail));
}

/** Whether a record is one of the last of its replica. */
function isOfLast(records: readonly LogRecord[], record: LogRecord, tail: number): boolean {
  const own = records.filter(({ instance }) => instance === record.instance);
  return own.indexOf(record) >= own.length - tail;
}

async function* before(records: AsyncIterable<LogRecord>, until: number): AsyncGenerator<LogRecord> {
  for await (const record of records) if ((parseLogMoment(record.timestamp)?.at ?? until) < until) yield record;
}

async function* streamOf(records: readonly LogRecord[]): AsyncGenerator<LogRecord> {
  yield* records;
}
