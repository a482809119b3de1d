import type { DeadLetterPage, DeadLetterView } from "../../../api/schemas/queue-status.ts";
import type { GatewayClient } from "../../client/gateway-client.ts";
import { readList, readOne } from "../../client/read-reply.ts";
import { deadLettersReply, queueReply } from "../../client/reply-kinds.ts";

/** A dead letter, and the queue that keeps it. */
export interface KeptLetter {
  readonly queue: string;
  readonly letter: DeadLetterView;
}

/** Dead letters of a page; the most that a gateway gives. */
const pageLimit = 1_000;

/** The dead letters of a queue, or of every queue by name, that `fits` is true of; the oldest of a queue first. */
export async function readDeadLetters(
  gateway: GatewayClient,
  queue: string | undefined,
  fits: (letter: DeadLetterView) => boolean,
): Promise<readonly KeptLetter[]> {
  const queues = queue === undefined ? await queuesWithLetters(gateway) : [queue];
  const found: KeptLetter[] = [];
  for (const name of queues)
    for await (const letter of lettersOf(gateway, name)) if (fits(letter)) found.push({ queue: name, letter });
  return found;
}

async function queuesWithLetters(gateway: GatewayClient): Promise<readonly string[]> {
  const queues = await readList(gateway, "/system/queues", queueReply);
  return queues.filter(({ deadLetters }) => deadLetters > 0).map(({ name }) => name);
}

async function* lettersOf(gateway: GatewayClient, queue: string): AsyncGenerator<DeadLetterView> {
  let after: string | undefined;
  do {
    const page: DeadLetterPage = await readOne(gateway, `/system/queue/${queue}/dead-letters`, deadLettersReply, {
      query: { limit: pageLimit, after },
    });
    yield* page.items;
    after = page.next;
  } while (after !== undefined);
}
