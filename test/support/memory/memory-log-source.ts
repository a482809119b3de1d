import { EventEmitter, on } from "node:events";

import type { LogRecord, OutputName } from "../../../runtime/api/schemas/log-record.ts";
import { formatRef, type FunctionRef } from "../../../runtime/core/functions/function-ref.ts";
import { parseTaggedLine } from "../../../runtime/core/replicas/tagged-line.ts";
import type { LogQuery, LogSource } from "../../../runtime/core/ports/log-source.ts";

/** Keeps logs in this process. */
export class MemoryLogSource implements LogSource {
  readonly #records = new Map<string, LogRecord[]>();
  readonly #written = new EventEmitter().setMaxListeners(0);

  /** Adds a line of replica `instance`, `text` without its newline. */
  write(
    ref: FunctionRef,
    instance: string,
    text: string,
    timestamp: string = new Date().toISOString(),
    stream: OutputName = "stdout",
  ): void {
    const { name, namespace } = ref;
    const record = { name, namespace, instance, timestamp, ...parseTaggedLine(`${text}\n`), stream };
    const key = formatRef(ref);
    this.#records.set(key, [...(this.#records.get(key) ?? []), record]);
    this.#written.emit(key, record);
  }

  /** Drops the lines of a replica that no longer runs. */
  removeReplica(ref: FunctionRef, instance: string): void {
    const records = this.#records.get(formatRef(ref)) ?? [];
    this.#records.set(
      formatRef(ref),
      records.filter((record) => record.instance !== instance),
    );
  }

  /** How many follow a function now. */
  followers(ref: FunctionRef): number {
    return this.#written.listenerCount(formatRef(ref));
  }

  async *read(query: LogQuery, signal: AbortSignal): AsyncGenerator<LogRecord> {
    const updates = query.follow ? on(this.#written, formatRef(query), { signal }) : undefined;
    const matches = (record: LogRecord): boolean =>
      (query.instance === undefined || query.instance === record.instance) &&
      (query.since === undefined || Date.parse(record.timestamp) >= query.since);
    const backlog = this.#records.get(formatRef(query)) ?? [];
    const { tail = backlog.length } = query;
    const last = [...Map.groupBy(backlog, ({ instance }) => instance).values()].flatMap((records) =>
      records.slice(Math.max(0, records.length - tail)),
    );
    yield* backlog.filter((record) => last.includes(record) && matches(record));
    try {
      for await (const [record] of updates ?? []) if (matches(record)) yield record;
    } catch (err) {
      if (!signal.aborted) throw err;
    }
  }
}
