import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import type { LogRecord } from "../../api/log-record.ts";
import type { LogQuery, LogSource } from "../../core/ports/log-source.ts";
import { mergeByTime } from "../replica-logs/merge-by-time.ts";
import { logDirectory, replicaOfLog } from "./log-files.ts";
import { LogTail } from "./log-tail.ts";

/** How often a followed log is looked at, in milliseconds. */
const interval = 100;

/**
 * Reads logs of functions from the files that `ReplicaLog` writes below `directory`. A followed log ends when the
 * directory of the function, once there, is gone.
 */
export class LocalLogSource implements LogSource {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  async *read(query: LogQuery, signal: AbortSignal): AsyncGenerator<LogRecord> {
    const directory = logDirectory(this.#directory, query);
    const tails = new Map<string, LogTail>();
    let wasThere = false;
    try {
      for (let isFirst = true; !signal.aborted; isFirst = false) {
        const replicas = await replicasIn(directory);
        const instances = [...new Set([...tails.keys(), ...(replicas ?? [])])].filter(
          (instance) => query.instance === undefined || query.instance === instance,
        );
        const count = isFirst ? query.tail : undefined;
        const written = instances.map((instance) =>
          recordsOf(query, instance, linesOf(tails, directory, instance, count)),
        );
        for await (const record of mergeByTime(written)) {
          if (signal.aborted) return;
          yield record;
        }
        for (const instance of instances) if (replicas?.includes(instance) !== true) tails.delete(instance);
        if (!query.follow || (replicas === undefined && wasThere)) return;
        wasThere ||= replicas !== undefined;
        await sleep(interval, undefined, { signal }).catch(() => {});
      }
    } finally {
      for (const tail of tails.values()) await tail.close();
    }
  }
}

async function replicasIn(directory: string): Promise<string[] | undefined> {
  const names = await readdir(directory).catch(() => undefined);
  return names && [...new Set(names.map(replicaOfLog))].sort();
}

/** Of a replica that is known what it wrote since, of another all, or the last `count` lines. */
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

function recordOf({ name, namespace, since }: LogQuery, instance: string, line: string): LogRecord | undefined {
  const space = line.indexOf(" ");
  const timestamp = line.slice(0, space);
  const time = Date.parse(timestamp);
  if (space < 0 || Number.isNaN(time) || (since !== undefined && time < since)) return undefined;
  return { name, namespace, instance, timestamp, text: `${line.slice(space + 1)}\n` };
}
