import type { QueuedCall } from "../core/calls/call.ts";
import { formatRef } from "../core/functions/function-ref.ts";
import type { InvokeOptions, InvokeOutcome, Invoker } from "../core/ports/invoker.ts";
import { redactedHeaders } from "../core/headers/redacted-headers.ts";
import type { Log } from "../process/log.ts";

/** Most bytes of a body that are logged. */
const maxBodyBytes = 4_096;

/** Logs each run: who, when and how; request and response only with `content`, and never credentials. */
export class LoggedInvoker implements Invoker {
  readonly #inner: Invoker;
  readonly #log: Log;
  readonly #content: boolean;

  constructor(inner: Invoker, log: Log, content: boolean) {
    this.#inner = inner;
    this.#log = log;
    this.#content = content;
  }

  async invoke(address: string, call: QueuedCall, options: InvokeOptions): Promise<InvokeOutcome> {
    const outcome = await this.#inner.invoke(address, call, options);
    const facts = {
      callId: call.id,
      functionName: formatRef(call.function),
      queue: call.queue,
      attempt: options.attempt,
      outcome: outcome.kind,
      duration: outcome.duration,
      ...(outcome.kind === "responded" ? { status: outcome.status, size: outcome.size } : {}),
    };
    if (this.#content) this.#log.info({ ...facts, ...contentOf(call, outcome) }, "function was run");
    else this.#log.debug(facts, "function was run");
    return outcome;
  }
}

function contentOf(call: QueuedCall, outcome: InvokeOutcome) {
  const { method, path, query, headers, body } = call;
  const request = { method, path, query, headers: redactedHeaders(headers), body: textOf(body) };
  if (outcome.kind !== "responded") return { request };
  return { request, response: { headers: redactedHeaders(outcome.headers), body: textOf(outcome.body) } };
}

function textOf(body: Uint8Array | undefined): string | undefined {
  return body === undefined ? undefined : Buffer.from(body.subarray(0, maxBodyBytes)).toString("utf8");
}
