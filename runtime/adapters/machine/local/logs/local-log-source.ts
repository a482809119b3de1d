import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import type { LogRecord } from "../../../../api/schemas/log-record.ts";
import type { LogQuery, LogSource } from "../../../../core/ports/log-source.ts";
import { EndedLogs, endedDirectory, recordOf } from "../../../replica-logs/ended-logs.ts";
import { mergeByTime } from "../../../replica-logs/merge-by-time.ts";
import { logDirectory, replicaOfLog } from "./log-files.ts";
import { LogTail } from "./log-tail.ts";

/** How often a followed log is read, in milliseconds. */
const usualInterval = 100;

/**
 * Reads logs of functions from the files that `ReplicaLog` writes below `directory`, and what is kept there of ended
 * replicas. A followed log ends when the directory of the function, once it existed, is gone.
 */
export class LocalLogSource implements LogSource {
  readonly #directory: string;
  readonly #ended: EndedLogs;
  readonly #interval: number;

  constructor(directory: string, interval: number = usualInterval) {
    this.#directory = directory;
    this.#interval = interval;
    this.#ended = new EndedLogs(directory);
  }

  async *read(query: LogQuery, signal: AbortSignal): AsyncGenerator<LogRecord> {
    const directory = logDirectory(this.#directory, query);
    const tails = new Map<string, LogTail>();
    /** Replicas that were read, or are being read. */
    const known = new Set<string>();
    let existed = false;
    try {
      for (let isFirst = true; !signal.aborted; isFirst = false) {
        // Listed before the ended ones: a replica that ends in between is at least among those.
        const replicas = await replicasIn(directory);
        const tail = isFirst ? query.tail : undefined;
        const ended = await this.#ended.read({ ...query, tail }, known);
        const instances = [...new Set([...tails.keys(), ...(replicas ?? [])])].filter(
          (instance) =>
            (query.instance === undefined || query.instance === instance) &&
            (tails.has(instance) || !known.has(instance)),
        );
        for (const instance of instances) known.add(instance);
        const written = instances.map((instance) =>
          recordsOf(query, instance, linesOf(tails, directory, instance, tail)),
        );
        for await (const record of mergeByTime([...ended, ...written])) {
          if (signal.aborted) return;
          yield record;
        }
        for (const instance of instances) if (replicas?.includes(instance) !== true) tails.delete(instance);
        if (!query.follow || (replicas === undefined && existed)) return;
        existed ||= replicas !== undefined;
        await sleep(this.#interval, undefined, { signal }).catch(() => {});
      }
    } finally {
      for (const tail of tails.values()) await tail.close();
    }
  }
}

async function replicasIn(directory: string): Promise<string[] | undefined> {
  const names = await readdir(directory).catch(() => undefined);
  return names && [...new Set(names.filter((name) => name !== endedDirectory).map(replicaOfLog))].sort();
}

/** New lines of a replica that is known; all lines of another one, or its last `count`. */
function linesOf(
  tails: Map<string, LogTail>,
  directory: string,
  instance: string,
  count: number | undefined,
): AsyncGenerator<string> {
  const known = tails.get(instance);
  if (known !== undefined) return known.more();
  const tail = new LogTail(join(directory, instance));
  tails.set(instance, tail);
  return tail.backlog(count);
}

async function* recordsOf(query: LogQuery, instance: string, lines: AsyncIterable<string>): AsyncGenerator<LogRecord> {
  for await (const line of lines) {
    const record = recordOf(query, instance, line);
    if (record !== undefined) yield record;
  }
}
