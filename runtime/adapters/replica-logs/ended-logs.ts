import { readdir, readFile, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";

import type { LogRecord } from "../../api/schemas/log-record.ts";
import type { FunctionRef } from "../../core/functions/function-ref.ts";
import type { LogQuery } from "../../core/ports/log-source.ts";
import { makeDirectoryDurably, unfinishedSuffix, writeFileDurably } from "../../disk/durable-files.ts";
import { parseLoggedLine } from "./logged-line.ts";

/** Bytes kept of the end of an ended replica's log, newlines included; the lines' timestamps come on top. */
export const endedLogSize = 65_536;

/** Directory of ended logs, inside the function's log directory. */
export const endedDirectory = "ended";

const keptReplicas = 5;
/** End in Unix milliseconds, then the replica's id: file names sort by the end. */
const fileName = /^\d{13}\.([^.]+)$/;

/** The last output of ended replicas, in files `<root>/<namespace>/<name>/ended/…`: five replicas per function. */
export class EndedLogs {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  /**
   * Keeps the log of an ended replica: whole lines as `formatLoggedLine` makes them. An empty log is not kept, so it
   * displaces no other.
   */
  async keep(ref: FunctionRef, id: string, log: string, now: number = Date.now()): Promise<void> {
    if (log === "") return;
    const directory = this.#directoryOf(ref);
    await makeDirectoryDurably(directory);
    const file = join(directory, `${String(now).padStart(13, "0")}.${id}`);
    await writeFileDurably(file, log);
    const kept = await this.#filesOf(ref);
    for (const { name } of kept.slice(0, -keptReplicas)) await rm(join(directory, name), { force: true });
  }

  /** The records of each ended replica of a query that is not in `known`, oldest first; adds their ids to `known`. */
  async read(query: LogQuery, known: Set<string>): Promise<AsyncIterable<LogRecord>[]> {
    const found = (await this.#filesOf(query)).filter(
      ({ id }) => !known.has(id) && (query.instance === undefined || query.instance === id),
    );
    for (const { id } of found) known.add(id);
    return found.map(({ name, id }) => this.#recordsOf(query, id, join(this.#directoryOf(query), name)));
  }

  /** Functions that have a log directory here, of ended replicas or of others. */
  async functions(): Promise<FunctionRef[]> {
    const namespaces = await readdir(this.#root).catch(() => []);
    const found = await Promise.all(
      namespaces.map(async (namespace) => {
        const names = await readdir(join(this.#root, namespace)).catch(() => []);
        return names.map((name) => ({ namespace, name }));
      }),
    );
    return found.flat();
  }

  /** Removes the unfinished files of a killed process; call it before the first `keep`. */
  async removeUnfinished(): Promise<void> {
    for (const ref of await this.functions()) {
      const directory = this.#directoryOf(ref);
      const names = await readdir(directory).catch(() => []);
      for (const name of names) if (name.endsWith(unfinishedSuffix)) await rm(join(directory, name), { force: true });
    }
  }

  /** Removes the whole log directory of a function. */
  async forget(ref: FunctionRef): Promise<void> {
    const namespace = join(this.#root, ref.namespace);
    await rm(join(namespace, ref.name), { recursive: true, force: true });
    // Fails while another function has logs there.
    await rmdir(namespace).catch(() => {});
  }

  async *#recordsOf(query: LogQuery, id: string, file: string): AsyncGenerator<LogRecord> {
    const log = await readFile(file, "utf8").catch(() => "");
    const records = log.split("\n").flatMap((line) => recordOf(query, id, line) ?? []);
    yield* query.tail === undefined ? records : records.slice(-query.tail);
  }

  #directoryOf({ namespace, name }: FunctionRef): string {
    return join(this.#root, namespace, name, endedDirectory);
  }

  async #filesOf(ref: FunctionRef): Promise<{ readonly name: string; readonly id: string }[]> {
    const names = await readdir(this.#directoryOf(ref)).catch(() => []);
    return names
      .toSorted((a, b) => (a < b ? -1 : 1))
      .flatMap((name) => {
        const id = fileName.exec(name)?.[1];
        return id === undefined ? [] : [{ name, id }];
      });
  }
}

/** The texts of the lines of a kept log, without what stands before them. */
export function textsIn(log: string): string[] {
  return log.split("\n").map((line) => parseLoggedLine(line)?.text ?? line);
}

/** Parses a line of a log file; undefined when it is malformed or older than the query asks for. */
export function recordOf({ name, namespace, since }: LogQuery, instance: string, line: string): LogRecord | undefined {
  const parsed = parseLoggedLine(line);
  const time = Date.parse(parsed?.timestamp ?? "");
  if (parsed === undefined || Number.isNaN(time) || (since !== undefined && time < since)) return undefined;
  return { name, namespace, instance, ...parsed, text: `${parsed.text}\n` };
}
