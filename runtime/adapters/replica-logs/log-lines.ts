import { cutMark, longestLine } from "./longest-line.ts";

/** One piece of a log as whoever keeps it hands it out; `text` ends with a newline unless the line goes on in the next one. */
export interface LogPiece {
  /** Pieces of one line are of one output. */
  readonly stream: number;
  /** RFC 3339 with nanoseconds, UTC. */
  readonly timestamp: string;
  readonly text: Buffer;
}

/** One line, without its newline. */
export interface LogLine {
  /** RFC 3339 with nanoseconds, UTC. */
  readonly timestamp: string;
  readonly text: string;
}

interface Begun {
  readonly timestamp: string;
  readonly parts: Buffer[];
  length: number;
}

const newline = 10;

/** Puts lines together that come in pieces; longer than 64 KiB they are cut and say so. */
export async function* logLines(pieces: AsyncIterable<LogPiece>): AsyncGenerator<LogLine> {
  const begun = new Map<number, Begun>();
  for await (const { stream, timestamp, text } of pieces) {
    const line = begun.get(stream) ?? { timestamp, parts: [], length: 0 };
    const isWhole = text.at(-1) === newline;
    const piece = isWhole ? text.subarray(0, -1) : text;
    const room = longestLine - Math.min(line.length, longestLine);
    if (room > 0) line.parts.push(piece.subarray(0, room));
    line.length += piece.length;
    begun.set(stream, line);
    if (!isWhole) continue;
    begun.delete(stream);
    yield finished(line);
  }
  for (const line of begun.values()) yield finished(line);
}

function finished({ timestamp, parts, length }: Begun): LogLine {
  const text = Buffer.concat(parts).toString("utf8");
  return { timestamp, text: length > longestLine ? text + cutMark : text };
}
