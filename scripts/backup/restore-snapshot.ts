import type { Msg } from "@nats-io/transport-node";

import { readAnswer, RestoreBegun, StreamFacts } from "./api-answer.ts";
import type { Broker } from "./broker.ts";

const requestTimeout = 60_000;
/** Reading a large store back takes the broker its time after the last chunk. */
const lastTimeout = 600_000;
const mostUnanswered = 8;

/** Bytes of a chunk that every server of ours takes. */
export const restoreChunk = 131_072;

/**
 * Makes the stream of `facts` from the chunks of its snapshot, and resolves with what it then is.
 * @throws BrokerRefusal when the broker refuses, also when the stream is there
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
  const unanswered: Promise<Msg>[] = [];
  const answered = async (): Promise<void> => {
    const answer = await unanswered.shift();
    // A chunk that is taken is answered with nothing.
    if (answer !== undefined && answer.data.length > 0) readAnswer(StreamFacts, doing, answer.json());
  };
  try {
    for await (const chunk of chunks) {
      unanswered.push(nc.request(deliver, chunk, { timeout: requestTimeout }));
      if (unanswered.length >= mostUnanswered) await answered();
    }
    while (unanswered.length > 0) await answered();
  } finally {
    await Promise.allSettled(unanswered);
  }
  const whole = await nc.request(deliver, new Uint8Array(), { timeout: lastTimeout });
  return readAnswer(StreamFacts, doing, whole.json());
}
