import { header, invokeHeader } from "../../../api/names.ts";
import type { QueuedCall } from "../../../core/calls/call.ts";
import { formatRef } from "../../../core/functions/function-ref.ts";
import { headerValue } from "../../../core/headers/header-list.ts";
import type { InvokeOptions, InvokeOutcome, Invoker } from "../../../core/ports/invoker.ts";
import type { Upstream } from "../../../core/ports/upstream.ts";
import { HttpInvoker } from "./http-invoker.ts";

export interface GatewayInvokerOptions {
  readonly upstream: Upstream;
  /** The key by which the gateway recognises a queue-worker. */
  readonly key: string;
  /** Longest that the gateway waits for a replica before a run's own timeout starts, milliseconds. */
  readonly wakeTimeout: number;
}

/** Time for the gateway to reply that a limit was reached, milliseconds. */
const margin = 2_000;

/** Runs queued calls viaGateway the gateway, which picks the replica; addresses are origins of the gateway. */
export class GatewayInvoker implements Invoker {
  readonly #options: GatewayInvokerOptions;

  constructor(options: GatewayInvokerOptions) {
    this.#options = options;
  }

  async invoke(origin: string, call: QueuedCall, options: InvokeOptions): Promise<InvokeOutcome> {
    const { upstream, key, wakeTimeout } = this.#options;
    const viaGateway: Pick<Upstream, "dispatch"> = {
      dispatch: (address, request, listener) => {
        const target = `/function/${formatRef(call.function)}${request.target}`;
        const timeout = String(Math.ceil(options.timeout));
        const headers = [...request.headers, invokeHeader.key, key, invokeHeader.timeout, timeout];
        return upstream.dispatch(address, { ...request, target, headers }, listener);
      },
    };
    const timeout = options.timeout + wakeTimeout + margin;
    return withoutGatewayErrors(await new HttpInvoker(viaGateway).invoke(origin, call, { ...options, timeout }));
  }
}

/** The gateway's own error responses are not output of the function. */
function withoutGatewayErrors(outcome: InvokeOutcome): InvokeOutcome {
  if (outcome.kind !== "responded" || headerValue(outcome.headers, header.internal.toLowerCase()) === undefined)
    return outcome;
  const { status, duration } = outcome;
  const error = `the gateway answered ${status}`;
  switch (status) {
    case 404:
      return { kind: "function-gone", duration };
    case 429:
    case 503:
      return { kind: "no-replica", error, duration };
    case 504:
      return { kind: "timed-out", duration };
    default:
      return { kind: "unreachable", error, sent: true, duration };
  }
}
