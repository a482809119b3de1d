import type { OutputName } from "../../api/schemas/log-record.ts";
import type { LogLine } from "./log-lines.ts";

type Output = OutputName | undefined;

/**
 * How far the log of a replica was read. Each output has its own place, as a long line of one may end after later lines
 * of the other. A line that was read while it was being written is held until it is read as a whole.
 */
export class ReadPosition {
  /** Timestamp of the last line that was passed on. */
  readonly #last = new Map<Output, string>();
  readonly #unfinished = new Map<Output, LogLine>();

  /** Where to read on, RFC 3339 with nanoseconds, UTC; undefined: from the start. */
  get since(): string | undefined {
    const held = [...this.#unfinished.values()].map(({ timestamp }) => timestamp).toSorted();
    return held[0] ?? [...this.#last.values()].toSorted().at(-1);
  }

  /** The lines to pass on now that `line` was read: none that was, and none that may become longer. */
  *next(line: LogLine): Generator<LogLine> {
    const { stream, timestamp } = line;
    const held = this.#unfinished.get(stream);
    // What follows it is another line: no more of it comes, as after a restart.
    if (held !== undefined && held.timestamp < timestamp) yield this.#pass(held);
    if (timestamp <= (this.#last.get(stream) ?? "")) return;
    // One that has not grown between two readings is as its writer left it.
    const mayGrow = line.isUnfinished === true && (held?.timestamp !== timestamp || held.text !== line.text);
    if (mayGrow) this.#unfinished.set(stream, line);
    else yield this.#pass(line);
  }

  /** The lines that are held, once nothing more comes. */
  *rest(): Generator<LogLine> {
    for (const line of this.#unfinished.values()) yield this.#pass(line);
  }

  #pass(line: LogLine): LogLine {
    this.#unfinished.delete(line.stream);
    this.#last.set(line.stream, line.timestamp);
    return line;
  }
}
