import type { Readable } from "node:stream";

/** The values in a stream of JSON documents, one per line; lines that are not JSON are left out. */
export async function* jsonLines(stream: Readable): AsyncGenerator {
  let rest = "";
  const decoder = new TextDecoder();
  for await (const chunk of stream as AsyncIterable<Uint8Array>) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* valuesOf(lines);
  }
  yield* valuesOf([rest]);
}

function* valuesOf(lines: readonly string[]): Generator {
  for (const line of lines) {
    if (line.trim() === "") continue;
    try {
      yield JSON.parse(line);
    } catch {
      // Truncated by the end of the stream.
    }
  }
}
