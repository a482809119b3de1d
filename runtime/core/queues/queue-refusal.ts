import { PlatformError } from "../../api/platform-error.ts";
import { named, publicly, unquoted, type PublicSentence } from "../../api/public-sentence.ts";
import type { CreateOutcome } from "../ports/call-ledger.ts";
import type { PutOutcome } from "../ports/call-queue.ts";

/** Why a call was certainly not queued. */
export type RefusedBecause = Extract<PutOutcome | CreateOutcome, { kind: "refused" }>["because"];

/** The error for a call, or its callback, that was certainly not queued; `what` as in `queue call "<id>"`. */
export function refusedPut(
  what: PublicSentence,
  queue: string,
  because: RefusedBecause,
  cause: unknown,
): PlatformError {
  switch (because) {
    case "full":
      return new PlatformError(
        "queue_full",
        publicly`Cannot ${what}: queue ${named(queue)} is full; send it again later, or see /system/queue/${unquoted(queue)} for what holds it up`,
        { callQueued: "no", retryAfterSeconds: 5, cause },
      );
    case "records-full":
      return new PlatformError(
        "queue_full",
        publicly`Cannot ${what}: there are as many calls as there is room for their records; send it again when some have ended`,
        { callQueued: "no", retryAfterSeconds: 5, cause },
      );
    case "store-full":
      return new PlatformError(
        "store_full",
        publicly`Cannot ${what}: the broker's store is nearly full; send it again later, or give it more room`,
        { callQueued: "no", retryAfterSeconds: 5, cause },
      );
    case "too-large":
      return new PlatformError(
        "payload_too_large",
        publicly`Cannot ${what}: body and headers are over the limit of the queue; store the body elsewhere and queue its address`,
        { callQueued: "no", cause },
      );
    case "unavailable":
      return new PlatformError(
        "queue_unavailable",
        publicly`Cannot ${what}: the queue cannot be reached; send it again later`,
        {
          callQueued: "no",
          retryAfterSeconds: 1,
          cause,
        },
      );
    default:
      return because satisfies never;
  }
}
