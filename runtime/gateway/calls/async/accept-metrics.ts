import { Counter, Histogram, type Registry } from "prom-client";

/** The gateway's metrics of asynchronous calls. */
export interface AcceptMetrics {
  readonly accepted: Counter<"queue_name">;
  readonly refused: Counter<"reason">;
  readonly seconds: Histogram;
}

export function buildAcceptMetrics(registry: Registry): AcceptMetrics {
  const registers = [registry];
  return {
    accepted: new Counter({
      name: "gateway_calls_accepted_total",
      help: "Calls accepted with 202",
      labelNames: ["queue_name"],
      registers,
    }),
    refused: new Counter({
      name: "gateway_calls_refused_total",
      help: "Calls not queued, by error code",
      labelNames: ["reason"],
      registers,
    }),
    seconds: new Histogram({
      name: "gateway_call_accept_seconds",
      help: "From the end of the body to the 202",
      buckets: [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 3],
      registers,
    }),
  };
}
