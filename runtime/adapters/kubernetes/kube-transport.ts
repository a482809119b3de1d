import type { Readable } from "node:stream";

import { Pool, type Dispatcher } from "undici";

import { PlatformError } from "../../api/platform-error.ts";
import { parseRetryAfter } from "../../core/retry.ts";
import type { ClusterConfig } from "./cluster-config.ts";
import type { Outcome } from "./decide-again.ts";
import { readRefusal } from "./kube-refusal.ts";

/** One attempt, as it goes over the wire. */
export interface Exchange {
  readonly method: Dispatcher.HttpMethod;
  /** With the query. */
  readonly path: string;
  readonly body?: string;
  readonly contentType?: string;
  /** Milliseconds for all of it; of a stream, until its head is there. */
  readonly timeout: number;
  readonly signal: AbortSignal | undefined;
}

/** An attempt that had no good end, and why in words. */
export type Failed = Exclude<Outcome, { kind: "done" }> & { readonly why: string; readonly cause?: unknown };

/** The end of an attempt; `value` is what was read of the answer. */
export type Attempt<T> = { readonly kind: "done"; readonly value: T } | Failed;

export interface TransportOptions {
  /** Connections for requests that read and end, and as many for those that write; those beyond wait. */
  readonly connections: number;
  /** Connections for watches and logs. */
  readonly streams: number;
  /** Longest body of an answer that is read as a whole. */
  readonly mostBytes: number;
}

const connectTimeout = 5_000;
/** Errors before anything of a request was sent. */
const unsent: ReadonlySet<unknown> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** Speaks HTTP with one API server: connections, who we are, time limits. Knows nothing of kinds and of retries. */
export class KubeTransport {
  readonly #config: ClusterConfig;
  readonly #prefix: string;
  readonly #reads: Pool;
  /** Apart: a write must not wait for thousands of lists. */
  readonly #writes: Pool;
  readonly #streams: Pool;
  readonly #mostBytes: number;

  constructor(config: ClusterConfig, { connections, streams, mostBytes }: TransportOptions) {
    const { origin, pathname } = new URL(config.server);
    const { ca, certificate, serverName } = config;
    const connect = {
      timeout: connectTimeout,
      ...(ca === undefined ? {} : { ca }),
      ...certificate,
      ...(serverName === undefined ? {} : { servername: serverName }),
    };
    this.#config = config;
    this.#prefix = pathname.replace(/\/+$/, "");
    this.#mostBytes = mostBytes;
    // HTTP/1.1: over HTTP/2 a stalled connection would stall all watches at once.
    const options = { connect, allowH2: false, bodyTimeout: 0, headersTimeout: 0 };
    this.#reads = new Pool(origin, { ...options, connections });
    this.#writes = new Pool(origin, { ...options, connections });
    this.#streams = new Pool(origin, { ...options, connections: streams });
  }

  /** The answer's JSON; undefined for an empty one. */
  async ask(exchange: Exchange): Promise<Attempt<unknown>> {
    const limit = AbortSignal.timeout(exchange.timeout);
    const signal = exchange.signal === undefined ? limit : AbortSignal.any([limit, exchange.signal]);
    const pool = exchange.method === "GET" ? this.#reads : this.#writes;
    return this.#attempt(pool, exchange, signal, async (answer) => readJson(await this.#text(answer.body)));
  }

  /** The answer's body as it comes; whoever takes it reads it to the end or destroys it. */
  async open(exchange: Exchange): Promise<Attempt<Readable>> {
    const head = new AbortController();
    const timer = setTimeout(() => head.abort(timedOut()), exchange.timeout);
    const signal = exchange.signal === undefined ? head.signal : AbortSignal.any([head.signal, exchange.signal]);
    try {
      return await this.#attempt(this.#streams, exchange, signal, (answer) => Promise.resolve(answer.body));
    } finally {
      clearTimeout(timer);
    }
  }

  /** Cuts what is under way. */
  async close(): Promise<void> {
    await Promise.all([this.#reads, this.#writes, this.#streams].map((pool) => pool.destroy()));
  }

  async #attempt<T>(
    pool: Pool,
    { method, path, body, contentType, signal: caller }: Exchange,
    signal: AbortSignal,
    read: (answer: Dispatcher.ResponseData) => Promise<T>,
  ): Promise<Attempt<T>> {
    const token = await this.#config.token?.current();
    try {
      const request = pool.request({
        method,
        path: `${this.#prefix}${path}`,
        headers: {
          accept: "application/json",
          "user-agent": "weir",
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { "content-type": contentType ?? "application/json" }),
        },
        ...(body === undefined ? {} : { body }),
        signal,
      });
      const answer = await orAborted(request, signal);
      if (answer.statusCode < 300) return { kind: "done", value: await read(answer) };
      if (answer.statusCode === 401) this.#config.token?.refused();
      return await this.#refused(answer, token);
    } catch (err) {
      caller?.throwIfAborted();
      if (err instanceof PlatformError) throw err;
      return { kind: "away", sent: !unsent.has(codeIn(err)), why: whyOf(err, signal), cause: err };
    }
  }

  async #refused({ statusCode, headers, body }: Dispatcher.ResponseData, token: string | undefined): Promise<Failed> {
    const header = headers["retry-after"];
    const retryAfter = parseRetryAfter(typeof header === "string" ? header : undefined);
    const text = await this.#text(body).catch(() => "");
    // No server says it; should one, nobody reads it in a log.
    const safe = token === undefined ? text : text.replaceAll(token, "…");
    const refusal = readRefusal(statusCode, jsonOrUndefined(safe), retryAfter);
    return { kind: "refused", refusal, why: refusal.message };
  }

  async #text(body: Readable): Promise<string> {
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      bytes += chunk.length;
      if (bytes > this.#mostBytes) {
        const sentence = `Cannot read an answer of the API server: it is over the limit of ${this.#mostBytes} bytes`;
        throw new PlatformError("internal_error", sentence);
      }
      chunks.push(chunk);
    }
    return Buffer.concat(chunks, bytes).toString("utf8");
  }
}

/** A request that waits for a connection hears of an abort only when it has one. */
function orAborted<T>(request: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason instanceof Error ? signal.reason : timedOut());
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    request.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

function timedOut(): Error {
  return new DOMException("no answer came in time", "TimeoutError");
}

function whyOf(err: unknown, signal: AbortSignal): string {
  if (signal.aborted) return "no answer came in time";
  return err instanceof Error ? err.message : String(err);
}

/** Of a failed connection to several addresses, that of the first. */
function codeIn(err: unknown): unknown {
  if (err instanceof AggregateError && !("code" in err)) return codeIn(err.errors[0]);
  return err instanceof Error && "code" in err ? err.code : undefined;
}

function readJson(text: string): unknown {
  return text === "" ? undefined : JSON.parse(text);
}

function jsonOrUndefined(text: string): unknown {
  try {
    return readJson(text);
  } catch {
    return undefined;
  }
}
