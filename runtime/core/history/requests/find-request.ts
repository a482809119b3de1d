import { isDeadReason } from "../../calls/call-transitions.ts";
import type { DeadLetterStore } from "../../ports/dead-letters.ts";
import type { KeptRequests, StoredRequest } from "../../ports/kept-requests.ts";
import { deadLetterAge } from "../call-actions.ts";
import type { CallRow, HistoryCall } from "../history-row.ts";
import { safeRequest } from "./safe-request.ts";

/** Where requests of ended calls are. */
export interface RequestSources {
  readonly letters: Pick<DeadLetterStore, "find">;
  readonly requests: Pick<KeptRequests, "find">;
}

/**
 * The request of a call: from its dead letter, else as it was kept. Undefined where neither is there.
 * @throws PlatformError `queue_unavailable`
 */
export async function findRequest(
  { letters, requests }: RequestSources,
  { row }: Pick<HistoryCall, "row">,
): Promise<StoredRequest | undefined> {
  if (row.kind === "sync") return undefined;
  const letter = mayHaveLetter(row) ? await requestInLetter(letters, row) : undefined;
  return letter ?? requests.find(row, row.id);
}

function mayHaveLetter({ state, reason }: CallRow): boolean {
  return state === "unknown" || (state === "failed" && isDeadReason(reason));
}

async function requestInLetter(
  letters: RequestSources["letters"],
  { queue, id }: CallRow,
): Promise<StoredRequest | undefined> {
  for (const { content, deadAt } of await letters.find(queue, id)) {
    if (content.kind === "call") return { ...safeRequest(content.call), expiresAt: deadAt + deadLetterAge };
  }
  return undefined;
}
