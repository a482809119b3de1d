import { createInbox } from "@nats-io/transport-node";

import { readAnswer, StreamFacts } from "./api-answer.ts";
import type { Broker } from "./broker.ts";

const requestTimeout = 60_000;
/** The broker gives up after 5 s without a response to its chunks. */
const idleTimeout = 15_000;
const windowSize = 4 * 1_048_576;
const chunkSize = 131_072;

/**
 * Passes the broker's snapshot of `stream` to `write`, chunk by chunk, and resolves once it is complete. It does not
 * include consumers: they are not copied at the same moment as the entries, and a new one delivers all of them.
 * @throws Error when the broker refuses, or ends before it is complete
 */
export async function takeSnapshot(
  { nc, inboxPrefix }: Broker,
  stream: string,
  write: (chunk: Uint8Array) => Promise<void>,
): Promise<StreamFacts> {
  const deliver = createInbox(inboxPrefix);
  const chunks = nc.subscribe(deliver);
  let silent = false;
  const timer = setTimeout(() => {
    silent = true;
    chunks.unsubscribe();
  }, requestTimeout + idleTimeout);
  try {
    const request = { deliver_subject: deliver, no_consumers: true, chunk_size: chunkSize, window_size: windowSize };
    const response = await nc.request(`$JS.API.STREAM.SNAPSHOT.${stream}`, JSON.stringify(request), {
      timeout: requestTimeout,
    });
    const facts = readAnswer(StreamFacts, `back up "${stream}"`, response.json());
    for await (const chunk of chunks) {
      if (chunk.data.length === 0) {
        const { code = 0, description = "" } = chunk.headers ?? {};
        if (code >= 400) throw new Error(`Cannot back up "${stream}": the broker ended it: ${code} ${description}`);
        return facts;
      }
      await write(chunk.data);
      chunk.respond();
      timer.refresh();
    }
  } finally {
    clearTimeout(timer);
    chunks.unsubscribe();
  }
  const because = silent ? "the broker fell silent" : "the connection was lost";
  throw new Error(`Cannot back up "${stream}": ${because} before it was whole`);
}
