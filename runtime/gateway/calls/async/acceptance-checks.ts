import { PlatformError } from "../../../api/platform-error.ts";
import { judgeUrl, parseCallbackUrl } from "../../../core/callbacks/callback-policy.ts";
import type { FunctionLimits } from "../../../core/functions/function-limits.ts";
import type { QueueDeclaration } from "../../../core/ports/queue-catalog.ts";
import { checkQueueEdition } from "../../../core/queues/check-queue-edition.ts";
import { knownQueue } from "../../../core/queues/queue-views.ts";
import type { AsyncParts } from "./async-parts.ts";

/** Where the calls of a function wait, and how often they are retried. */
export interface CallQueueing {
  readonly queue: QueueDeclaration;
  readonly maxRetries: number;
}

/**
 * Where the callback of a call goes, if it has one.
 * @throws PlatformError `invalid_callback_url`
 */
export function callbackTarget(
  { callbackRules }: Pick<AsyncParts, "callbackRules">,
  sent: string | undefined,
): string | undefined {
  if (sent === undefined) return undefined;
  const url = parseCallbackUrl(sent);
  const why = judgeUrl(url, callbackRules);
  if (why !== undefined) throw new PlatformError("invalid_callback_url", `Cannot call back at "${url.host}": ${why}`);
  return url.href;
}

/** @throws PlatformError when the function's queue is not in the edition, or not declared */
export function callQueueing(
  { edition, queues }: Pick<AsyncParts, "edition" | "queues">,
  limits: FunctionLimits,
): CallQueueing {
  checkQueueEdition(limits.queue, edition);
  const queue = knownQueue(queues, limits.queue, edition);
  return { queue, maxRetries: limits.retry.attempts ?? queue.retry.attempts };
}
