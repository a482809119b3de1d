import type { BrokerFaultKind } from "../../api/broker/broker-fault.ts";
import { PlatformError } from "../../api/platform-error.ts";
import { named, publicly, unquoted, type PublicSentence } from "../../api/public-sentence.ts";
import type { CreateOutcome } from "../ports/call-ledger.ts";
import type { PutOutcome } from "../ports/call-queue.ts";

/** Why a call was certainly not queued. */
export type RefusedPut = Extract<PutOutcome | CreateOutcome, { kind: "refused" }>;

/** What keeps the queue from storing, without a word about servers: anybody may read it. */
const unavailable: Readonly<Record<BrokerFaultKind, PublicSentence>> = {
  away: publicly`the queue cannot be reached; send it again later`,
  "no-leader": publicly`the servers of the queue are choosing a leader; send it again later`,
  full: publicly`the disk of the queue is full; send it again when there is room`,
  "io-error": publicly`the disk of the queue fails; send it again when it works`,
};

/** The same as part of a sentence that goes on; empty if nothing more is known than that there is no answer. */
export function whoseFault(fault: BrokerFaultKind | undefined): PublicSentence {
  switch (fault) {
    case "no-leader":
      return publicly`, whose servers are choosing a leader`;
    case "full":
      return publicly`, whose disk is full`;
    case "io-error":
      return publicly`, whose disk fails`;
    case "away":
    case undefined:
      return publicly``;
    default:
      return fault satisfies never;
  }
}

/** The error for a call, or its callback, that was certainly not queued; `what` as in `queue call "<id>"`. */
export function refusedPut(what: PublicSentence, queue: string, refusal: RefusedPut): PlatformError {
  const { because, cause } = refusal;
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
      return new PlatformError("queue_unavailable", publicly`Cannot ${what}: ${unavailable[refusal.fault ?? "away"]}`, {
        callQueued: "no",
        retryAfterSeconds: 1,
        cause,
      });
    default:
      return because satisfies never;
  }
}
