import { Counter, type Registry } from "prom-client";

import { traceIdOf } from "../../core/headers/trace-parent.ts";
import type { Log } from "../../process/log.ts";
import type { CallEnd, CallFacts } from "./call-observer.ts";

/**
 * Why a call was cut, its client's connection with it: `idle`: no byte for `stream_idle_timeout`, or `websocket_idle`;
 * `unread`: the client read nothing of what waited for it; `timeout`: a queued run reached its limit in the middle of its
 * reply; `replica`: the replica broke its reply off; `draining`: the gateway stops and can wait no longer.
 */
export type CutReason = "idle" | "unread" | "timeout" | "replica" | "draining";

const reasons: readonly CutReason[] = ["idle", "unread", "timeout", "replica", "draining"];

/** Hears of each call that was cut. */
export type CallCuts = (
  reason: CutReason,
  facts: Pick<CallFacts, "callId" | "ref" | "traceParent">,
  end: Pick<CallEnd, "duration" | "bytesIn" | "bytesOut">,
) => void;

/** Counts calls that were cut, and logs each with its reason: the client saw no more than a connection that closed. */
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
