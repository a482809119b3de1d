import { endedLogSize } from "./ended-logs.ts";
import type { LogLine } from "./log-lines.ts";

/** Log stores count lines, not bytes: this many, even short ones, are more than is kept of an ended replica. */
export const mostEndLines = 8_192;

/** The last of `lines` that fit into 64 KiB, or only the last one if it is longer. */
export async function endOfLines(lines: AsyncIterable<LogLine>): Promise<LogLine[]> {
  const last: LogLine[] = [];
  let size = 0;
  for await (const line of lines) {
    last.push(line);
    size += sizeOf(line);
    while (size > endedLogSize && last.length > 1) size -= sizeOf(last.shift());
  }
  return last;
}

/** Bytes with the newline, without the timestamp. */
function sizeOf(line: LogLine | undefined): number {
  return line === undefined ? 0 : Buffer.byteLength(line.text) + 1;
}
