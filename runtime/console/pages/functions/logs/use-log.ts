import { useSignal, type ReadonlySignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";

import type { LogRecord } from "../../../../api/schemas/log-record.ts";
import type { LogEvent } from "../../../../api/schemas/watch/watch-topics.ts";
import { useConsole } from "../../../data/console-context.ts";
import type { FunctionOfPage } from "../../../data/functions/function-of-page.ts";
import { readJsonLines } from "../../../data/requests/read-lines.ts";
import { failureFrom, type RequestFailure } from "../../../data/requests/request-failure.ts";
import type { Requests } from "../../../data/requests/requests.ts";
import { useTopic } from "../../../data/stream/use-topic.ts";
import { PacedRecords } from "./paced-records.ts";
import { ShownLines } from "./shown-lines.ts";

/** What of a log is wanted. */
export interface WantedLog {
  readonly named: FunctionOfPage;
  /** Lines of one call only; empty = of all. */
  readonly call: string;
  /** Lines around this moment instead of the last ones, milliseconds since 1970. */
  readonly around: number | undefined;
}

export interface OpenedLog {
  readonly lines: ShownLines;
  readonly failure: ReadonlySignal<RequestFailure | undefined>;
  /** Why less is shown than was asked for. */
  readonly less: ReadonlySignal<RequestFailure | undefined>;
  /** When the kept lines were asked for; undefined = they are here. */
  readonly since: ReadonlySignal<number | undefined>;
  /** Lines that came too fast for the page. */
  readonly skipped: ReadonlySignal<number>;
  /** Reads lines from before the first one. */
  readonly older: () => Promise<void>;
}

/** Lines of each replica that are read at once. */
const portion = 300;
/** Around a line that was linked to, milliseconds. */
const aroundLine = 300_000;

/** Reads the kept lines of a function and follows it; of a call, and around a moment, it only reads. */
export function useLog({ named, call, around }: WantedLog): OpenedLog {
  const { requests, session } = useConsole();
  const { name, namespace } = named;
  const lines = useMemo(() => new ShownLines(), [name, namespace, call, around]);
  const failure = useSignal<RequestFailure | undefined>(undefined);
  const less = useSignal<RequestFailure | undefined>(undefined);
  const begun = useMemo(() => Date.now(), []);
  const since = useSignal<number | undefined>(begun);
  const skipped = useSignal(0);

  const read = async (query: LogQueryPart, signal?: AbortSignal): Promise<void> => {
    since.value = Date.now();
    try {
      const found = await readLog(requests, { name, namespace, ...query }, signal);
      lines.add(found.records);
      less.value = found.less;
      failure.value = undefined;
    } catch (err) {
      if (signal?.aborted !== true) failure.value = failureFrom(err);
    } finally {
      if (signal?.aborted !== true) since.value = undefined;
    }
  };
  useEffect(() => {
    const stop = new AbortController();
    void read(firstQuery(call, around), stop.signal);
    return () => stop.abort();
  }, [lines]);
  const arriving = useMemo(() => new PacedRecords(), [lines]);
  const frame = useRef<number | undefined>(undefined);
  useEffect(
    () => () => {
      if (frame.current !== undefined) cancelAnimationFrame(frame.current);
      frame.current = undefined;
    },
    [lines],
  );
  const showSome = (): void => {
    lines.add(ofCall(arriving.ofFrame(), call));
    frame.current = arriving.count > 0 ? requestAnimationFrame(showSome) : undefined;
  };
  useTopic(around === undefined && session.may("Function:Logs") ? `log:${namespace}:${name}` : undefined, {
    event: (_name, data) => {
      const { records, skipped: more } = data as LogEvent;
      skipped.value += more;
      arriving.add(records);
      frame.current ??= requestAnimationFrame(showSome);
    },
    poll: async (signal) => {
      lines.add(ofCall((await readLog(requests, { name, namespace, tail: portion }, signal)).records, call));
    },
  });
  return {
    lines,
    failure,
    less,
    since,
    skipped,
    older: () => read({ history: true, tail: portion, until: lines.lines.peek()[0]?.record.timestamp }),
  };
}

type LogQueryPart = Readonly<Record<string, string | number | boolean | undefined>>;

function firstQuery(call: string, around: number | undefined): LogQueryPart {
  if (call !== "") return { call };
  if (around === undefined) return { history: true, tail: portion };
  const moment = (shift: number): string => new Date(around + shift).toISOString();
  return { history: true, since: moment(-aroundLine), until: moment(aroundLine) };
}

/** Lines that were written for a call, as far as they say so themselves; of any call if it is empty. */
export function ofCall(records: readonly LogRecord[], call: string): readonly LogRecord[] {
  return call === "" ? records : records.filter((record) => record.call === call || record.text.includes(call));
}

interface ReadLog {
  readonly records: readonly LogRecord[];
  /** Why they are not all that was asked for. */
  readonly less: RequestFailure | undefined;
}

/** Failures after which less is read: no history is kept, or it does not know the call, as not every one has a row. */
const lessWith: ReadonlySet<string> = new Set(["history_off", "history_unavailable", "call_not_found"]);

/** Lines of a log. Where no history is kept, those of running replicas. */
async function readLog(requests: Requests, query: LogQueryPart, signal?: AbortSignal): Promise<ReadLog> {
  try {
    const response = await requests.open("GET", "/system/logs", { query, signal, act: "read the log" });
    return { records: await Array.fromAsync(readJsonLines<LogRecord>(response)), less: undefined };
  } catch (err) {
    const less = failureFrom(err);
    const { call, history, ...rest } = query;
    if (less === undefined || !lessWith.has(less.code) || (call === undefined && history === undefined)) throw err;
    const found = await readLog(requests, call === undefined ? rest : { ...rest, history: true }, signal);
    // A call without a row is no fault: its lines say themselves whose they are.
    const why = found.less ?? (less.code === "call_not_found" ? undefined : less);
    return { records: ofCall(found.records, String(call ?? "")), less: why };
  }
}
