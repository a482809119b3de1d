import { cutMark, longestLine } from "../files/longest-line.ts";
import type { LogFrame } from "./log-frames.ts";

/** One line, without its newline. */
export interface LogLine {
  readonly timestamp: string;
  readonly text: string;
}

interface Begun {
  readonly timestamp: string;
  readonly parts: Buffer[];
  length: number;
}

const newline = 10;

/** Puts lines together of which the engine keeps long ones in pieces; longer than 64 KiB they are cut and say so. */
export async function* logLines(frames: AsyncIterable<LogFrame>): AsyncGenerator<LogLine> {
  const begun = new Map<number, Begun>();
  for await (const { stream, timestamp, text } of frames) {
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
