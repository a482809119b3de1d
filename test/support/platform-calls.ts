import { Agent, fetch } from "undici";

import type { CallRecord } from "../../runtime/api/schemas/call-record.ts";
import { eventually } from "./eventually.ts";
import type { LedgerWriter } from "./ledger.ts";
import { classifyAnswer } from "./load.ts";
import { preciseNow } from "./precise-now.ts";

/** A complete response. */
export interface Answer {
  readonly status: number;
  readonly headers: Pick<Headers, "get">;
  readonly body: Buffer;
  /** Milliseconds from the request to the end of the response. */
  readonly took: number;
}

export interface QueueOptions {
  readonly id?: string;
  readonly callbackUrl?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  /** Path and query after the function's name. */
  readonly tail?: string;
  /** POST by default. */
  readonly method?: string;
}

/** Operations of clients on asynchronous calls, over HTTP. */
export interface PlatformCalls {
  /** Any request; `path` begins with `/`. */
  send(
    method: string,
    path: string,
    init?: { readonly headers?: Readonly<Record<string, string>>; readonly body?: string | Uint8Array<ArrayBuffer> },
  ): Promise<Answer>;
  /** Queues a call and returns the response, whatever it is. */
  queue(name: string, options?: QueueOptions): Promise<Answer>;
  /** Queues a call that must be accepted; returns its id. */
  accepted(name: string, options?: QueueOptions): Promise<string>;
  /** The record, or undefined if there is none. Rejects for any status but 200 and 404. */
  status(id: string): Promise<CallRecord | undefined>;
  /** The record once it is in one of `states`, waiting at most `within` milliseconds (45 000). */
  until(id: string, states: readonly CallRecord["state"][], within?: number): Promise<CallRecord>;
  /** The record once the call has ended. */
  ended(id: string, within?: number): Promise<CallRecord>;
  result(id: string): Promise<Answer>;
  cancel(id: string, functionName?: string): Promise<Answer>;
}

const requestTimeout = 15_000;
/** Milliseconds until an idle connection is closed: it counts as one of the gateway's descriptors. */
const idleTimeout = 1_000;

export interface PlatformCallsOptions {
  /** Where queued calls are recorded. */
  readonly ledger?: LedgerWriter | undefined;
  /** Value of the `Authorization` header with which records are read. */
  readonly authorization?: string;
}

/** Calls through the gateway at `url`. */
export function platformCalls(url: string, { ledger, authorization }: PlatformCallsOptions = {}): PlatformCalls {
  const dispatcher = new Agent({ keepAliveTimeout: idleTimeout, keepAliveMaxTimeout: idleTimeout });
  const send: PlatformCalls["send"] = async (method, path, init = {}) => {
    const start = performance.now();
    const response = await fetch(url + path, {
      method,
      headers: { ...init.headers },
      dispatcher,
      redirect: "manual",
      signal: AbortSignal.timeout(requestTimeout),
      ...(init.body === undefined ? {} : { body: init.body }),
    });
    const body = Buffer.from(await response.arrayBuffer());
    return { status: response.status, headers: response.headers, body, took: performance.now() - start };
  };
  let sequence = 0;
  const record = (options: QueueOptions, sentAt: number, response: Answer): Answer => {
    const id = response.headers.get("x-call-id") ?? options.id;
    if (id === undefined || id === null) return response;
    ledger?.append({
      kind: "sent",
      id,
      sequence: sequence++,
      class: classifyAnswer(response.status, response.headers.get("x-call-queued") ?? undefined),
      sentAt,
      answeredAt: preciseNow(),
      callback: options.callbackUrl !== undefined,
      status: response.status,
    });
    return response;
  };
  const queue: PlatformCalls["queue"] = async (name, options = {}) => {
    const sentAt = preciseNow();
    const response = await send(options.method ?? "POST", `/async-function/${name}${options.tail ?? ""}`, {
      headers: {
        ...options.headers,
        ...(options.id === undefined ? {} : { "X-Call-Id": options.id }),
        ...(options.callbackUrl === undefined ? {} : { "X-Callback-Url": options.callbackUrl }),
      },
      ...(options.body === undefined ? {} : { body: options.body }),
    });
    return record(options, sentAt, response);
  };
  const status: PlatformCalls["status"] = async (id) => {
    const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
    const response = await send("GET", `/async-function/${id}`, { headers });
    if (response.status === 404) return undefined;
    if (response.status !== 200)
      throw new Error(`status route answered ${response.status}: ${response.body.toString()}`);
    return JSON.parse(response.body.toString());
  };
  const until: PlatformCalls["until"] = async (id, states, within) => {
    let seen: CallRecord | undefined;
    try {
      return await eventually(
        async () => {
          seen = await status(id);
          return seen !== undefined && states.includes(seen.state) ? seen : undefined;
        },
        { within, what: `call ${id} to be ${states.join(" or ")}` },
      );
    } catch (cause) {
      throw new Error(
        `${cause instanceof Error ? cause.message : String(cause)}; its record: ${JSON.stringify(seen)}`,
        { cause },
      );
    }
  };
  return {
    send,
    queue,
    accepted: async (name, options) => {
      const response = await queue(name, options);
      const id = response.headers.get("x-call-id");
      if (response.status !== 202 || id === null)
        throw new Error(`call was answered ${response.status}: ${response.body.toString()}`);
      return id;
    },
    status,
    until,
    ended: (id, within) => until(id, ["done", "failed", "cancelled"], within),
    result: (id) => send("GET", `/async-function/${id}/result`),
    cancel: (id, functionName) =>
      send("DELETE", `/async-function/${functionName === undefined ? "" : `${functionName}/`}${id}`),
  };
}
