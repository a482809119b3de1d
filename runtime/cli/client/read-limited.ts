import type { Readable } from "node:stream";

import { CliError } from "../cli-error.ts";
import { exitCode } from "../exit-code.ts";

/**
 * A body as text.
 * @throws CliError when it is longer than `limit` bytes, or breaks off
 */
export async function readLimited(body: Readable, limit: number): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      length += chunk.byteLength;
      if (length > limit) throw new CliError(exitCode.failed, `Cannot read the reply: it is over ${limit} bytes`);
      chunks.push(chunk);
    }
  } catch (cause) {
    if (cause instanceof CliError) throw cause;
    throw new CliError(exitCode.unavailable, "Cannot read the reply: the connection was closed before its end", {
      cause,
    });
  }
  return Buffer.concat(chunks).toString("utf8");
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
