import type { BrokerFaultKind } from "../../../api/broker/broker-fault.ts";
import type { PutOutcome } from "../../../core/ports/call-queue.ts";
import { payloadTooLarge } from "./durable-publish.ts";
import type { PublishOutcome } from "./publish-outcome.ts";

/** NATS error code of a publish that could not be stored (server `errors.json`). */
const storeFailed = 10077;

/** What a publish into a queue means for the call; `fault` is what the broker's state says after it. */
export function putOutcome(outcome: PublishOutcome, fault: BrokerFaultKind | undefined): PutOutcome {
  switch (outcome.kind) {
    case "stored":
      return { kind: "stored" };
    case "refused": {
      const { code, description } = outcome.refusal;
      const cause = new Error(`${description} (${code})`);
      if (outcome.doubt !== undefined) return { kind: "unknown", fault, cause };
      // 10077 covers every failure to store; only the text of a limit begins with this word, a full disk's does not.
      if (code === storeFailed && description.startsWith("maximum")) return { kind: "refused", because: "full", cause };
      if (code === payloadTooLarge) return { kind: "refused", because: "too-large", cause };
      return { kind: "refused", because: "unavailable", fault, cause };
    }
    case "not-sent":
      return { kind: "refused", because: "unavailable", fault, cause: outcome.cause };
    case "unknown":
      return { kind: "unknown", fault, cause: outcome.cause };
    default:
      return outcome satisfies never;
  }
}
