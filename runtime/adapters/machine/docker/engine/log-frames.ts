import type { LogChunk } from "../../../replica-logs/log-lines.ts";

const headLength = 8;
const space = 32;
/** Number of standard error in the head of a frame. */
const errorOutput = 2;

/** The chunks in the engine's stream of both outputs, which must have been requested with timestamps. */
export async function* logFrames(stream: AsyncIterable<Uint8Array>): AsyncGenerator<LogChunk> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of stream) {
    rest = rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([rest, chunk]);
    for (;;) {
      const end = rest.length < headLength ? Number.POSITIVE_INFINITY : headLength + rest.readUInt32BE(4);
      if (rest.length < end) break;
      const frame = rest.subarray(headLength, end);
      const spaceAt = frame.indexOf(space);
      if (spaceAt > 0) {
        yield {
          stream: rest[0] === errorOutput ? "stderr" : "stdout",
          timestamp: frame.toString("latin1", 0, spaceAt),
          text: frame.subarray(spaceAt + 1),
        };
      }
      rest = rest.subarray(end);
    }
  }
}
