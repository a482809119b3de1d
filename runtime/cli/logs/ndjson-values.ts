import type { Readable } from "node:stream";

import { CliError } from "../cli-error.ts";
import { exitCode } from "../exit-code.ts";

/** Most characters of one line; a gateway cuts a line of a log far below. */
const longestLine = 1024 * 1024;

/** A stream that ended before its end, or was silent for too long. */
export class BrokenStream extends Error {
  override readonly name = "BrokenStream";
}

/**
 * The values of a stream of NDJSON; empty lines, which keep a connection alive, are left out.
 * @throws BrokenStream when it breaks off, also within a line; CliError when a line is no JSON or too long
 */
export async function* ndjsonValues(body: Readable): AsyncGenerator {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of wholeChunks(body)) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.trim() !== "") yield parse(line);
    if (rest.length > longestLine)
      throw new CliError(exitCode.failed, `Cannot read the stream: a line is over ${longestLine} characters`);
  }
  if (rest.trim() !== "") throw new BrokenStream("it ended within a line");
}

async function* wholeChunks(body: Readable): AsyncGenerator<Uint8Array> {
  try {
    yield* body as AsyncIterable<Uint8Array>;
  } catch (cause) {
    throw new BrokenStream("the connection was closed before its end", { cause });
  }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw new CliError(exitCode.failed, "Cannot read the stream: a line of it is not JSON", { cause });
  }
}
