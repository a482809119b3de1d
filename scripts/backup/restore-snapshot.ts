import type { Msg } from "@nats-io/transport-node";

import { readAnswer, RestoreBegun, StreamFacts } from "./api-answer.ts";
import type { Broker } from "./broker.ts";

const requestTimeout = 60_000;
/** After the last chunk, the broker needs time to read a large store. */
const lastTimeout = 600_000;
const maxPending = 8;

/** Bytes of a chunk that every supported server accepts. */
export const restoreChunk = 131_072;

/**
 * Creates the stream of `facts` from the chunks of its snapshot, and resolves with its new configuration and state.
 * @throws BrokerRefusal when the broker refuses, also when the stream exists
 */
export async function restoreSnapshot(
  { nc }: Broker,
  facts: StreamFacts,
  chunks: AsyncIterable<Uint8Array>,
): Promise<StreamFacts> {
  const { name } = facts.config;
  const doing = `restore "${name}"`;
  const begun = await nc.request(`$JS.API.STREAM.RESTORE.${name}`, JSON.stringify(facts), { timeout: requestTimeout });
  const { deliver_subject: deliver } = readAnswer(RestoreBegun, doing, begun.json());
  const pending: Promise<Msg>[] = [];
  const settleOldest = async (): Promise<void> => {
    const response = await pending.shift();
    // The response to an accepted chunk is empty.
    if (response !== undefined && response.data.length > 0) readAnswer(StreamFacts, doing, response.json());
  };
  try {
    for await (const chunk of chunks) {
      pending.push(nc.request(deliver, chunk, { timeout: requestTimeout }));
      if (pending.length >= maxPending) await settleOldest();
    }
    while (pending.length > 0) await settleOldest();
  } finally {
    await Promise.allSettled(pending);
  }
  const whole = await nc.request(deliver, new Uint8Array(), { timeout: lastTimeout });
  return readAnswer(StreamFacts, doing, whole.json());
}
