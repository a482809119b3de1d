import { STATUS_CODES } from "node:http";

import { CliError } from "../cli-error.ts";
import type { GatewayReply } from "../client/gateway-reply.ts";
import { exitCode } from "../exit-code.ts";
import { escapeLine } from "../output/escape-text.ts";
import type { Output } from "../output/output.ts";
import { garbageCollector } from "./garbage-collector.ts";

/**
 * Writes the body of a reply to stdout, byte for byte, no faster than it is read there; with `head` its status and
 * headers first, as in a message of HTTP. `of` completes the sentence `Cannot read the reply of …`.
 * @throws CliError when the reply breaks off
 */
export async function writeReply(
  output: Output,
  reply: GatewayReply,
  { head, of }: { readonly head: boolean; readonly of: string },
): Promise<void> {
  if (head) await output.write(headText(reply));
  const wasRead = garbageCollector();
  for await (const chunk of chunksOf(reply, of)) {
    await output.write(chunk);
    wasRead(chunk.byteLength);
  }
}

/** A failure to read is not one to write. */
async function* chunksOf({ body }: GatewayReply, of: string): AsyncGenerator<Uint8Array> {
  try {
    yield* body as AsyncIterable<Uint8Array>;
  } catch (cause) {
    const sentence = `Cannot read the reply of ${of}: the connection was closed before its end`;
    throw new CliError(exitCode.unavailable, sentence, { cause });
  }
}

function headText({ status, headers }: GatewayReply): string {
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((each) => `${escapeLine(`${name}: ${each}`)}\r\n`),
  );
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`.trimEnd() + `\r\n${lines.join("")}\r\n`;
}
