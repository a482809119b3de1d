import type { IncomingMessage } from "node:http";

/** The body of a request as text; undefined when it is longer than `limit` bytes, of which no more are held. */
export async function readRequestText(request: IncomingMessage, limit: number): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  // Read to its end in any case: to leave the loop would destroy the connection before the reply.
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= limit) chunks.push(chunk);
  }
  return length > limit ? undefined : Buffer.concat(chunks, length).toString("utf8");
}
