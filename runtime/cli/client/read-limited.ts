import type { Readable } from "node:stream";

import { CliError } from "../cli-error.ts";
import { exitCode } from "../exit-code.ts";

/**
 * A body as text; `what` it is, as in `the reply`.
 * @throws CliError as `limitedChunks`
 */
export async function readLimited(body: Readable, limit: number, what?: string): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of limitedChunks(body, limit, what)) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

/**
 * The chunks of a body; `what` it is, as in `the reply`.
 * @throws CliError when it is longer than `limit` bytes, breaks off, or no more of it comes
 */
export async function* limitedChunks(body: Readable, limit: number, what = "the reply"): AsyncGenerator<Buffer> {
  let length = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      length += chunk.byteLength;
      if (length > limit) throw new CliError(exitCode.failed, `Cannot read ${what}: it is over ${limit} bytes`);
      yield chunk;
    }
  } catch (cause) {
    if (cause instanceof CliError) throw cause;
    throw isIdle(cause)
      ? new CliError(exitCode.timeout, `Cannot read ${what}: its rest does not come`, { cause })
      : new CliError(exitCode.unavailable, `Cannot read ${what}: the connection was closed before its end`, { cause });
  }
}

/** The first `limit` bytes of a body as text; the rest is not read. Empty when it breaks off. */
export async function readStartOf(body: Readable, limit: number): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.byteLength;
      if (length >= limit) break;
    }
  } catch {
    // What came is all there is.
  }
  return Buffer.concat(chunks).subarray(0, limit).toString("utf8");
}

function isIdle(cause: unknown): boolean {
  return cause instanceof Error && "code" in cause && cause.code === "UND_ERR_BODY_TIMEOUT";
}

/** Ends the reading of a body of which nobody needs the rest. */
export function discardBody(body: Readable): void {
  // Without this its error would be nobody's, and end the process.
  body.on("error", () => {}).destroy();
}
