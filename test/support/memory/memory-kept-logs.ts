import type { FunctionRef } from "../../../runtime/core/functions/function-ref.ts";
import { isCovered } from "../../../runtime/core/history/logs/line-numbers.ts";
import { parseLogMoment } from "../../../runtime/core/history/logs/log-moment.ts";
import { parseTaggedLine } from "../../../runtime/core/replicas/tagged-line.ts";
import type {
  FollowedLine,
  KeptLine,
  KeptLinePage,
  KeptLineQuery,
  KeptLogBounds,
  KeptLogs,
  KeptLogsWriter,
  LinePlace,
  LogPosition,
} from "../../../runtime/core/ports/kept-logs.ts";

/** Keeps log lines in this process. */
export class MemoryKeptLogs implements KeptLogs, KeptLogsWriter {
  readonly #positions = new Map<string, Map<string, LogPosition>>();
  #lines: KeptLine[] = [];
  #order = 0;

  async lines({ containing, limit, newest = false, after, ...range }: KeptLineQuery): Promise<KeptLinePage> {
    const found = this.#lines.filter(
      (line) =>
        isOf(line, range) &&
        (range.instance ?? line.instance) === line.instance &&
        line.place[0] >= (range.since ?? 0) &&
        line.place[0] < (range.until ?? Number.POSITIVE_INFINITY) &&
        line.text.includes(containing ?? "") &&
        (after === undefined || order(line.place, after) > 0),
    );
    if (newest) return { lines: found.slice(-limit).map(untagged) };
    const lines = found.slice(0, limit).map(untagged);
    const last = lines.at(-1);
    return { lines, ...(found.length > limit && last !== undefined ? { next: last.place } : {}) };
  }

  async lineReplicas(ref: FunctionRef): Promise<readonly string[]> {
    const replicas = [...(this.#positions.get(key(ref)) ?? [])];
    return replicas.sort(([, one], [, other]) => other.at - one.at).map(([instance]) => instance);
  }

  async positions(ref: FunctionRef): Promise<ReadonlyMap<string, LogPosition>> {
    return new Map(this.#positions.get(key(ref)));
  }

  async append(lines: readonly FollowedLine[]): Promise<void> {
    for (const { number, ...record } of lines) {
      const moment = parseLogMoment(record.timestamp);
      const positions = this.#positions.get(key(record)) ?? new Map<string, LogPosition>();
      if (moment === undefined || isCovered({ ...moment, number }, positions.get(record.instance))) continue;
      this.#positions.set(key(record), positions.set(record.instance, { ...moment, number }));
      this.#order += 1;
      this.#lines.push({ ...record, place: [moment.at, moment.nanos, this.#order] });
    }
    this.#lines.sort((one, other) => order(one.place, other.place));
  }

  async remove(ref: FunctionRef, places: readonly LinePlace[]): Promise<void> {
    const removed = new Set(places.map(([, , number]) => number));
    this.#lines = this.#lines.filter((line) => !isOf(line, ref) || !removed.has(line.place[2]));
  }

  async namespaces(): Promise<readonly string[]> {
    return [...new Set([...this.#positions.keys()].map((name) => name.split("/", 1)[0] ?? ""))].sort();
  }

  async removeNamespace(namespace: string): Promise<void> {
    this.#lines = this.#lines.filter((line) => line.namespace !== namespace);
    for (const name of this.#positions.keys()) if (name.startsWith(`${namespace}/`)) this.#positions.delete(name);
  }

  async trim({ age, bytes, functionBytes }: KeptLogBounds, now: number): Promise<boolean> {
    this.#lines = this.#lines.filter(({ place: [at] }) => at >= now - age);
    for (const own of Map.groupBy(this.#lines, key).values()) this.#removeOldest(own, functionBytes);
    this.#removeOldest(this.#lines, bytes);
    return false;
  }

  async size(): Promise<{ readonly lines: number; readonly bytes: number }> {
    return { lines: this.#lines.length, bytes: bytesOf(this.#lines) };
  }

  #removeOldest(lines: readonly KeptLine[], bytes: number): void {
    let excess = bytesOf(lines) - bytes;
    for (const line of lines) {
      if (excess <= 0) return;
      excess -= bytesOf([line]);
      this.#lines = this.#lines.filter((other) => other !== line);
    }
  }
}

function untagged(line: KeptLine): KeptLine {
  return { ...line, ...parseTaggedLine(line.text) };
}

function key({ namespace, name }: FunctionRef): string {
  return `${namespace}/${name}`;
}

function isOf(line: KeptLine, { namespace, name }: FunctionRef): boolean {
  return line.namespace === namespace && line.name === name;
}

function order(one: LinePlace, other: LinePlace): number {
  return one[0] - other[0] || one[1] - other[1] || one[2] - other[2];
}

function bytesOf(lines: readonly KeptLine[]): number {
  return lines.reduce((sum, { text }) => sum + Buffer.byteLength(text) + 100, 0);
}
