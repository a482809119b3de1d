import { setTimeout as pause } from "node:timers/promises";

import { editions, type Edition } from "../../api/editions.ts";
import type { DeadLetterPage, QueueStatus } from "../../api/schemas/queue-status.ts";
import { PlatformError } from "../../api/platform-error.ts";
import { named, publicly, type PublicSentence } from "../../api/public-sentence.ts";
import { editionWithQueues } from "./check-queue-edition.ts";
import { deadLetterView } from "./dead-letter-view.ts";
import type { DeadLetterStore } from "../ports/dead-letters.ts";
import type { QueueDeclaration } from "../ports/queue-catalog.ts";
import type { QueueStates } from "../ports/queue-states.ts";
import type { QueuePlace } from "./queue-remedy.ts";
import { queueStatus, type QueueFigures } from "./queue-status.ts";
import type { QueueTable } from "./queue-table.ts";
import { quote } from "../quote.ts";
import type { WorkerSums } from "./worker-sums.ts";

/** What the views of queues are built from. */
export interface QueueViewParts {
  readonly table: QueueTable;
  readonly states: QueueStates;
  readonly workers: WorkerSums;
  readonly letters: DeadLetterStore;
  readonly place: QueuePlace;
}

const defaultLimit = 100;
const maxLimit = 1_000;

/**
 * The declaration of `name`.
 * @throws PlatformError `queue_not_found`, or `queue_unavailable` while no declarations are known
 */
export function knownQueue(table: QueueTable, name: string, edition: Edition): QueueDeclaration {
  const queue = table.find(name);
  if (queue !== undefined) return queue;
  if (!table.isKnown) throw notKnown(publicly`find queue ${named(name)}`);
  const names = table.list().map((declared) => `"${declared.name}"`);
  const more =
    editions[edition].queues === "named"
      ? "the setting queues declares more"
      : `edition "${edition}" has no others, they need edition "${editionWithQueues}"`;
  throw new PlatformError(
    "queue_not_found",
    `Cannot find queue "${name}": it is not declared, only ${names.join(", ")}; ${more}`,
  );
}

/**
 * All declarations, sorted by name.
 * @throws PlatformError `queue_unavailable` while none are known
 */
export function knownQueues(table: QueueTable): readonly QueueDeclaration[] {
  if (!table.isKnown) throw notKnown(publicly`list the queues`);
  return table.list();
}

function notKnown(what: PublicSentence): PlatformError {
  return new PlatformError(
    "queue_unavailable",
    publicly`Cannot ${what}: the broker is away, or the queue-doctor has not declared its queues yet; try again later`,
    { callQueued: "no", retryAfterSeconds: 1 },
  );
}

/** Figures of the queue `name`; in the first second of a process it waits until every queue-worker has reported. */
export async function queueFigures(
  { states, letters, workers }: Pick<QueueViewParts, "states" | "letters" | "workers">,
  name: string,
): Promise<QueueFigures> {
  const [state, deadLetters] = await Promise.all([
    states.read(name),
    letters.count(name),
    pause(workers.untilComplete),
  ]);
  return { state, deadLetters, workers: workers.of(name) };
}

/** Status of `queue`; in the first second of a process it waits until every queue-worker has reported. */
export async function showQueue(parts: QueueViewParts, queue: QueueDeclaration): Promise<QueueStatus> {
  return queueStatus(queue, await queueFigures(parts, queue.name), parts.place);
}

/**
 * One page of the dead letters of a queue; `limit` and `after` as they were sent.
 * @throws PlatformError `validation_failed` when one cannot be read
 */
export async function showDeadLetters(
  letters: DeadLetterStore,
  queue: string,
  asked: { readonly limit?: string; readonly after?: string },
): Promise<DeadLetterPage> {
  const limit = readWhole("limit", asked.limit, defaultLimit, 1, maxLimit);
  const after = readWhole("after", asked.after, 0, 0, Number.MAX_SAFE_INTEGER);
  const page = await letters.list(queue, after, limit);
  const next = page.next ?? page.letters.at(-1)?.position;
  return {
    items: page.letters.map(deadLetterView),
    ...(page.more && next !== undefined ? { next: String(next) } : {}),
  };
}

function readWhole(name: string, text: string | undefined, fallback: number, least: number, most: number): number {
  if (text === undefined || text === "") return fallback;
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  const expected = name === "after" ? "next of the previous page" : `a whole number from ${least} to ${most}`;
  throw new PlatformError("validation_failed", `Cannot read ${name} ${quote(text)}: expected ${expected}`);
}
