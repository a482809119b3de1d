import type { OutputName } from "../../api/schemas/log-record.ts";
import { parseTaggedLine } from "../../core/replicas/tagged-line.ts";
import { cutMark, longestLine } from "./longest-line.ts";

/** A chunk of a log as its store delivers it; `text` ends with a newline unless the line continues in the next one. */
export interface LogChunk {
  /** Where it was written to, undefined if that is not known; the chunks of one line have the same. */
  readonly stream: OutputName | undefined;
  /** RFC 3339 with nanoseconds, UTC. */
  readonly timestamp: string;
  readonly text: Buffer;
}

/** One line, without its newline. */
export interface LogLine {
  /** RFC 3339 with nanoseconds, UTC. */
  readonly timestamp: string;
  readonly text: string;
  /** Absent if it is not known. */
  readonly stream?: OutputName;
  /** The call that its tag names, which is not in `text`. */
  readonly call?: string;
  /** Its newline was not there yet: it was being written, or nothing comes after it. */
  readonly isUnfinished?: true;
}

interface PartialLine {
  readonly stream: OutputName | undefined;
  readonly timestamp: string;
  readonly parts: Buffer[];
  length: number;
}

const newline = 10;

/**
 * Joins chunks into lines; lines over 64 KiB are truncated and marked.
 * @throws what reading chunks throws, after the lines that were not read to their end
 */
export async function* logLines(chunks: AsyncIterable<LogChunk>): AsyncGenerator<LogLine> {
  const partial = new Map<OutputName | undefined, PartialLine>();
  try {
    for await (const { stream, timestamp, text } of chunks) {
      const line = partial.get(stream) ?? { stream, timestamp, parts: [], length: 0 };
      const endsLine = text.at(-1) === newline;
      const chunk = endsLine ? text.subarray(0, -1) : text;
      const room = longestLine - Math.min(line.length, longestLine);
      if (room > 0) line.parts.push(chunk.subarray(0, room));
      line.length += chunk.length;
      partial.set(stream, line);
      if (!endsLine) continue;
      partial.delete(stream);
      yield finished(line);
    }
  } catch (err) {
    // Their readers must read them again: what the other output wrote meanwhile is later.
    yield* unfinished(partial.values());
    throw err;
  }
  yield* unfinished(partial.values());
}

function* unfinished(lines: Iterable<PartialLine>): Generator<LogLine> {
  for (const line of lines) yield { ...finished(line), isUnfinished: true };
}

function finished({ stream, timestamp, parts, length }: PartialLine): LogLine {
  const text = Buffer.concat(parts).toString("utf8");
  return {
    timestamp,
    ...parseTaggedLine(length > longestLine ? text + cutMark : text),
    ...(stream === undefined ? {} : { stream }),
  };
}
