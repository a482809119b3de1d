import { Counter, type Registry } from "prom-client";

import { traceIdOf } from "../../core/headers/trace-parent.ts";
import type { Log } from "../../process/log.ts";
import type { ObservedEnd, CallFacts, CutReason } from "./call-facts.ts";

const reasons: readonly CutReason[] = ["idle", "unread", "timeout", "replica", "draining", "expired"];

/** Called for each call that was cut. */
export type CallCuts = (
  reason: CutReason,
  facts: Pick<CallFacts, "callId" | "ref" | "traceParent">,
  end: Pick<ObservedEnd, "duration" | "bytesIn" | "bytesOut">,
) => void;

/** Counts calls that were cut and logs each with its reason, because the client only saw its connection close. */
export function buildCallCuts(registry: Registry, log: Log): CallCuts {
  const counter = new Counter({
    name: "gateway_calls_cut_total",
    help: "Synchronous calls whose connection the gateway closed before the reply was whole, by reason",
    labelNames: ["reason"],
    registers: [registry],
  });
  for (const reason of reasons) counter.inc({ reason }, 0);
  return (reason, { callId, ref, traceParent }, { duration, bytesIn, bytesOut }) => {
    counter.inc({ reason });
    log.warn(
      {
        callId,
        functionName: ref?.name,
        namespace: ref?.namespace,
        reason,
        duration: Math.round(duration),
        bytesIn,
        bytesOut,
        traceId: traceIdOf(traceParent),
      },
      "call was cut",
    );
  };
}
