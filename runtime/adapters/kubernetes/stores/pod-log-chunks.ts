import type { LogChunk } from "../../replica-logs/log-lines.ts";

const newline = 10;
const space = 32;
/** Longest timestamp in bytes; a line that does not begin with one is not part of a log with timestamps. */
const longestTime = 40;

/**
 * The chunks of a container's log as the API server sends it, which must have been requested with timestamps: lines of
 * a time, a space and text, cut anywhere, of both outputs alike. Lines that do not begin with a time are left out.
 */
export async function* podLogChunks(stream: AsyncIterable<Uint8Array>): AsyncGenerator<LogChunk> {
  let head: Buffer = Buffer.alloc(0);
  /** Of the current line; undefined while not known, "" when it has none. */
  let timestamp: string | undefined;
  for await (const chunk of stream) {
    let rest: Buffer = head.length === 0 ? Buffer.from(chunk) : Buffer.concat([head, chunk]);
    head = Buffer.alloc(0);
    while (rest.length > 0) {
      if (timestamp === undefined) {
        const gap = rest.subarray(0, longestTime).indexOf(space);
        if (gap < 0 && rest.length < longestTime && !rest.includes(newline)) {
          head = rest;
          break;
        }
        timestamp = gap < 0 ? "" : (nanoTimeOf(rest.toString("latin1", 0, gap)) ?? "");
        if (timestamp !== "") rest = rest.subarray(gap + 1);
      }
      const end = rest.indexOf(newline);
      const text = end < 0 ? rest : rest.subarray(0, end + 1);
      if (timestamp !== "") yield { stream: undefined, timestamp, text };
      if (end >= 0) timestamp = undefined;
      rest = rest.subarray(text.length);
    }
  }
}

/** The time in UTC with nine decimals, so that times compare as texts; undefined when `text` is not a time. */
function nanoTimeOf(text: string): string | undefined {
  const parts = /^(?<second>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(?<nanos>\d{1,9}))?(?<zone>Z|[+-]\d\d:\d\d)$/.exec(
    text,
  );
  const { second = "", nanos = "", zone = "" } = parts?.groups ?? {};
  const time = Date.parse(`${second}${zone}`);
  if (Number.isNaN(time)) return undefined;
  return `${new Date(time).toISOString().slice(0, 19)}.${nanos.padEnd(9, "0")}Z`;
}
