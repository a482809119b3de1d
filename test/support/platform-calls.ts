import { Agent, fetch } from "undici";

import type { CallRecord } from "../../runtime/api/schemas/call-record.ts";
import { eventually } from "./eventually.ts";
import type { LedgerWriter } from "./ledger.ts";
import { classifyAnswer } from "./load.ts";

/** An answer, read whole. */
export interface Answer {
  readonly status: number;
  readonly headers: Pick<Headers, "get">;
  readonly body: Buffer;
  /** Milliseconds from the request to the end of the answer. */
  readonly took: number;
}

export interface QueueOptions {
  readonly id?: string;
  readonly callbackUrl?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  /** Path and query after the function's name. */
  readonly tail?: string;
  /** POST when absent. */
  readonly method?: string;
}

/** What clients do with asynchronous calls, over HTTP. */
export interface PlatformCalls {
  /** Any request; `path` begins with `/`. */
  send(
    method: string,
    path: string,
    init?: { readonly headers?: Readonly<Record<string, string>>; readonly body?: string | Uint8Array<ArrayBuffer> },
  ): Promise<Answer>;
  /** Queues a call and hands back the answer, whatever it is. */
  queue(name: string, options?: QueueOptions): Promise<Answer>;
  /** Queues a call that must be accepted: the id to use. */
  accepted(name: string, options?: QueueOptions): Promise<string>;
  /** The record, or undefined when there is none. Rejects at any status but 200 and 404. */
  status(id: string): Promise<CallRecord | undefined>;
  /** The record once it is in one of `states`, waiting at most `within` milliseconds (10 000). */
  until(id: string, states: readonly CallRecord["state"][], within?: number): Promise<CallRecord>;
  /** The record once the call is over. */
  ended(id: string, within?: number): Promise<CallRecord>;
  result(id: string): Promise<Answer>;
  cancel(id: string, functionName?: string): Promise<Answer>;
}

const requestTimeout = 15_000;
/** Connections that rest are closed soon: they count as the gateway's. */
const resting = 1_000;

export interface PlatformCallsOptions {
  /** Where what is queued is written down. */
  readonly ledger?: LedgerWriter | undefined;
  /** Value of the `Authorization` header with which records are read. */
  readonly authorization?: string;
}

/** Calls through the gateway at `url`. */
export function platformCalls(url: string, { ledger, authorization }: PlatformCallsOptions = {}): PlatformCalls {
  const dispatcher = new Agent({ keepAliveTimeout: resting, keepAliveMaxTimeout: resting });
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
  const now = (): number => performance.timeOrigin + performance.now();
  let sequence = 0;
  const note = (options: QueueOptions, sentAt: number, answer: Answer): Answer => {
    const id = answer.headers.get("x-call-id") ?? options.id;
    if (id === undefined || id === null) return answer;
    ledger?.append({
      kind: "sent",
      id,
      sequence: sequence++,
      class: classifyAnswer(answer.status, answer.headers.get("x-call-queued") ?? undefined),
      sentAt,
      answeredAt: now(),
      callback: options.callbackUrl !== undefined,
      status: answer.status,
    });
    return answer;
  };
  const queue: PlatformCalls["queue"] = async (name, options = {}) => {
    const sentAt = now();
    const answer = await send(options.method ?? "POST", `/async-function/${name}${options.tail ?? ""}`, {
      headers: {
        ...options.headers,
        ...(options.id === undefined ? {} : { "X-Call-Id": options.id }),
        ...(options.callbackUrl === undefined ? {} : { "X-Callback-Url": options.callbackUrl }),
      },
      ...(options.body === undefined ? {} : { body: options.body }),
    });
    return note(options, sentAt, answer);
  };
  const status: PlatformCalls["status"] = async (id) => {
    const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
    const answer = await send("GET", `/async-function/${id}`, { headers });
    if (answer.status === 404) return undefined;
    if (answer.status !== 200) throw new Error(`status route answered ${answer.status}: ${answer.body.toString()}`);
    return JSON.parse(answer.body.toString());
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
      const answer = await queue(name, options);
      const id = answer.headers.get("x-call-id");
      if (answer.status !== 202 || id === null)
        throw new Error(`call was answered ${answer.status}: ${answer.body.toString()}`);
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
