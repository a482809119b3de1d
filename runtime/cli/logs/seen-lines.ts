import type { LogRecord } from "../../api/schemas/log-record.ts";

/** How far the log of one replica was shown. */
interface Position {
  /** Time of the last line that was shown. */
  readonly time: string;
  /** Lines of that time that were shown. */
  readonly count: number;
}

/**
 * Which lines were shown, so that a stream that is read again from a time shortly before its break shows none twice.
 * The lines of one replica come in the order of their times.
 */
export class SeenLines {
  readonly #shown = new Map<string, Position>();
  /** Lines of the last time of each replica that the stream now being read has repeated. */
  readonly #repeated = new Map<string, number>();
  /** How far each replica had been shown when the stream now being read began. */
  #before: ReadonlyMap<string, Position> = new Map();
  #last: string | undefined;

  /** Latest time of a line; undefined before the first. */
  get last(): string | undefined {
    return this.#last;
  }

  /** A stream begins, which may repeat lines. */
  beginStream(): void {
    this.#before = new Map(this.#shown);
    this.#repeated.clear();
  }

  /** Whether a line of the stream is to be shown; it counts as shown then. */
  isNew({ instance, timestamp }: Pick<LogRecord, "instance" | "timestamp">): boolean {
    const time = comparable(timestamp);
    if (this.#repeats(instance, time)) return false;
    const position = this.#shown.get(instance);
    this.#shown.set(instance, { time, count: position?.time === time ? position.count + 1 : 1 });
    if (this.#last === undefined || time > this.#last) this.#last = time;
    return true;
  }

  #repeats(instance: string, time: string): boolean {
    const before = this.#before.get(instance);
    if (before === undefined || time > before.time) return false;
    if (time < before.time) return true;
    const repeated = (this.#repeated.get(instance) ?? 0) + 1;
    this.#repeated.set(instance, repeated);
    return repeated <= before.count;
  }
}

/** A time of a log, always with nine digits of its second, so that times compare as texts. */
function comparable(timestamp: string): string {
  const [, second = timestamp, fraction = ""] = /^([^.Zz]*)(?:\.(\d+))?[Zz]$/.exec(timestamp) ?? [];
  return `${second}.${fraction.padEnd(9, "0").slice(0, 9)}Z`;
}
