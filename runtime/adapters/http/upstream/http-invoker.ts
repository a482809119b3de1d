import { header } from "../../../api/names.ts";
import type { QueuedCall } from "../../../core/calls/call.ts";
import { endToEndHeaders } from "../../../core/headers/hop-by-hop.ts";
import type { InvokeOptions, InvokeOutcome, Invoker } from "../../../core/ports/invoker.ts";
import type { Upstream, UpstreamCall } from "../../../core/ports/upstream.ts";

/** Runs queued calls over HTTP, directly at a replica. */
export class HttpInvoker implements Invoker {
  readonly #upstream: Pick<Upstream, "dispatch">;

  constructor(upstream: Pick<Upstream, "dispatch">) {
    this.#upstream = upstream;
  }

  invoke(address: string, call: QueuedCall, options: InvokeOptions): Promise<InvokeOutcome> {
    const startedAt = performance.now();
    const elapsed = () => performance.now() - startedAt;
    return new Promise((resolve) => {
      if (options.signal.aborted) {
        resolve({ kind: "aborted", duration: 0 });
        return;
      }
      let status = 0;
      let headers: readonly string[] = [];
      let chunks: Uint8Array[] = [];
      let size = 0;

      const settle = (outcome: InvokeOutcome): void => {
        clearTimeout(timer);
        options.signal.removeEventListener("abort", onAbort);
        resolve(outcome);
      };
      const abortWith = (outcome: InvokeOutcome): void => {
        exchange.abort();
        settle(outcome);
      };
      const onAbort = (): void => abortWith({ kind: "aborted", duration: elapsed() });
      const timer = setTimeout(() => abortWith({ kind: "timed-out", duration: elapsed() }), options.timeout);
      options.signal.addEventListener("abort", onAbort);

      const exchange: UpstreamCall = this.#upstream.dispatch(address, requestOf(call, options), {
        onHead: (code, list) => {
          status = code;
          headers = list;
        },
        onData: (chunk) => {
          size += chunk.byteLength;
          // Over the limit the response is only counted: nothing but its size is reported.
          if (size <= options.outputLimit) chunks.push(Buffer.from(chunk));
          else chunks = [];
          return true;
        },
        onEnd: () =>
          settle({
            kind: "responded",
            status,
            headers: endToEndHeaders(headers),
            body: size <= options.outputLimit ? Buffer.concat(chunks) : undefined,
            size,
            duration: elapsed(),
          }),
        onError: (kind, err) => {
          const duration = elapsed();
          const error = kind === "reset" ? `${err.message} ${progress(status, size, duration)}` : err.message;
          settle({ kind: "unreachable", error, sent: kind !== "refused", duration });
        },
      });
    });
  }
}

/** How much of a response had arrived; `status` is 0 before its head. */
function progress(status: number, size: number, duration: number): string {
  const after = `after ${Math.round(duration)} ms`;
  return status === 0
    ? `${after}, before the head of its response`
    : `${after} and ${size} bytes of the body of its ${status} response`;
}

function requestOf(call: QueuedCall, { attempt, protocol }: InvokeOptions) {
  const path = call.path === "" ? "/" : call.path;
  const headers = [
    ...call.headers,
    header.callId,
    call.id,
    header.startTime,
    call.start.toString(),
    header.callAttempt,
    String(attempt),
    "Content-Length",
    String(call.body.byteLength),
  ];
  if (call.depth > 0) headers.push(header.callDepth, String(call.depth));
  if (call.parentId !== undefined) headers.push(header.parentCallId, call.parentId);
  return {
    method: call.method,
    target: call.query === undefined ? path : `${path}?${call.query}`,
    headers,
    body: call.body,
    protocol,
  };
}
