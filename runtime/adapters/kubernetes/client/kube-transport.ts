import type { Readable } from "node:stream";

import { Pool, type Dispatcher } from "undici";

import { PlatformError } from "../../../api/platform-error.ts";
import { parseRetryAfter } from "../../../core/calls/retry.ts";
import type { ClusterConfig } from "./cluster-config.ts";
import type { Outcome } from "./decide-retry.ts";
import { readRefusal } from "./kube-refusal.ts";

/** One attempt, as it is sent. */
export interface KubeExchange {
  readonly method: Dispatcher.HttpMethod;
  /** Including the query. */
  readonly path: string;
  readonly body?: string;
  readonly contentType?: string;
  /** Milliseconds for the whole exchange; for a stream, until its head has arrived. */
  readonly timeout: number;
  /**
   * Milliseconds after which the attempt ends if no request at all got a response since it began: its connection may be
   * half-open.
   */
  readonly silence?: number;
  readonly signal: AbortSignal | undefined;
}

/** A failed attempt, and why in words. */
export type Failed = Exclude<Outcome, { kind: "done" }> & { readonly why: string; readonly cause?: unknown };

/** The outcome of an attempt; `value` is what was read of the response. */
export type Attempt<T> = { readonly kind: "done"; readonly value: T } | Failed;

export interface TransportOptions {
  /** Connections for reads that are not streams, and as many for writes; further requests wait. */
  readonly connections: number;
  /** Connections for watches and logs. */
  readonly streams: number;
  /** Longest response body that is read as a whole. */
  readonly mostBytes: number;
}

const connectTimeout = 5_000;
/** Errors that occur before any of a request is sent. */
const unsent: ReadonlySet<unknown> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);
/** Node's errors for a server certificate that no trusted authority has signed. */
const untrusted: ReadonlySet<unknown> = new Set([
  "CERT_SIGNATURE_FAILURE",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

/** Connections that trust the same authorities. */
interface Pools {
  readonly reads: Pool;
  /** Separate, so that a write does not wait behind thousands of lists. */
  readonly writes: Pool;
  readonly streams: Pool;
}

/** HTTP to one API server: connections, credentials, time limits. Knows nothing of kinds or retries. */
export class KubeTransport {
  readonly #config: ClusterConfig;
  readonly #prefix: string;
  readonly #options: TransportOptions;
  /** Replaced pools, until what is in flight on them has ended. */
  readonly #retired = new Set<Pool>();
  #ca: string | undefined;
  #pools: Pools;
  /** When the last response head arrived, by `performance.now()`. */
  #lastResponseAt = Number.NEGATIVE_INFINITY;

  constructor(config: ClusterConfig, options: TransportOptions) {
    this.#config = config;
    this.#options = options;
    this.#prefix = new URL(config.server).pathname.replace(/\/+$/, "");
    this.#ca = config.ca;
    this.#pools = this.#openPools();
  }

  /** The JSON of the response; undefined for an empty body. */
  async ask(exchange: KubeExchange): Promise<Attempt<unknown>> {
    const { timeout, silence = timeout, signal } = exchange;
    const timeLimit = new AbortController();
    const [startedAt, pools] = [performance.now(), this.#pools];
    const giveUp = (): void => {
      timeLimit.abort(timedOut());
      if (this.#lastResponseAt < startedAt && this.#pools === pools) this.#replacePools();
    };
    // A response to any other request meanwhile shows that only this one is slow: it gets its whole timeout.
    const checkSilence = (): void => {
      if (this.#lastResponseAt < startedAt || silence >= timeout) giveUp();
      else timer = setTimeout(giveUp, timeout - silence);
    };
    let timer = setTimeout(checkSilence, Math.min(silence, timeout));
    try {
      const read = async (response: Dispatcher.ResponseData) => readJson(await this.#text(response.body));
      return await this.#attempt(
        exchange.method === "GET" ? "reads" : "writes",
        exchange,
        signal === undefined ? timeLimit.signal : AbortSignal.any([timeLimit.signal, signal]),
        read,
      );
    } finally {
      clearTimeout(timer);
    }
  }

  /** The response body as a stream, which the caller reads to the end or destroys. */
  async open(exchange: KubeExchange): Promise<Attempt<Readable>> {
    const head = new AbortController();
    const timer = setTimeout(() => head.abort(timedOut()), exchange.timeout);
    const signal = exchange.signal === undefined ? head.signal : AbortSignal.any([head.signal, exchange.signal]);
    try {
      return await this.#attempt("streams", exchange, signal, (response) => Promise.resolve(response.body));
    } finally {
      clearTimeout(timer);
    }
  }

  /** Aborts what is in flight. */
  async close(): Promise<void> {
    await Promise.all([...Object.values(this.#pools), ...this.#retired].map((pool) => pool.destroy()));
  }

  #openPools(): Pools {
    const { certificate, serverName, server } = this.#config;
    const connect = {
      timeout: connectTimeout,
      ...(this.#ca === undefined ? {} : { ca: this.#ca }),
      ...certificate,
      ...(serverName === undefined ? {} : { servername: serverName }),
    };
    const { origin } = new URL(server);
    // HTTP/1.1: over HTTP/2 a stalled connection would stall all watches at once.
    const open = (connections: number): Pool =>
      new Pool(origin, { connect, connections, allowH2: false, bodyTimeout: 0, headersTimeout: 0 });
    const { connections, streams } = this.#options;
    return { reads: open(connections), writes: open(connections), streams: open(streams) };
  }

  /** New requests use new connections; those in flight end on the old ones. */
  #replacePools(): void {
    const before: readonly Pool[] = Object.values(this.#pools);
    this.#pools = this.#openPools();
    for (const pool of before) {
      this.#retired.add(pool);
      void pool
        .close()
        .catch(() => {})
        .finally(() => this.#retired.delete(pool));
    }
  }

  async #refreshCa(): Promise<void> {
    const ca = await this.#config.caFile?.current();
    if (ca === undefined || ca === this.#ca) return;
    const isFirst = this.#ca === undefined;
    this.#ca = ca;
    // The first pools have not sent anything yet.
    if (isFirst) this.#pools = this.#openPools();
    else this.#replacePools();
  }

  async #attempt<T>(
    which: keyof Pools,
    { method, path, body, contentType, signal: caller }: KubeExchange,
    signal: AbortSignal,
    read: (response: Dispatcher.ResponseData) => Promise<T>,
  ): Promise<Attempt<T>> {
    const token = await this.#config.token?.current();
    await this.#refreshCa();
    try {
      const request = this.#pools[which].request({
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
      const response = await orAborted(request, signal);
      this.#lastResponseAt = performance.now();
      if (response.statusCode < 300) return { kind: "done", value: await read(response) };
      if (response.statusCode === 401) this.#config.token?.refused();
      return await this.#refused(response, token);
    } catch (err) {
      caller?.throwIfAborted();
      if (err instanceof PlatformError) throw err;
      const code = codeIn(err);
      if (untrusted.has(code)) this.#config.caFile?.refused();
      return { kind: "away", sent: !unsent.has(code) && !untrusted.has(code), why: whyOf(err, signal), cause: err };
    }
  }

  async #refused({ statusCode, headers, body }: Dispatcher.ResponseData, token: string | undefined): Promise<Failed> {
    const header = headers["retry-after"];
    const retryAfter = parseRetryAfter(typeof header === "string" ? header : undefined);
    const text = await this.#text(body).catch(() => "");
    // No server should echo the token; if one does, it stays out of the logs.
    const safe = token === undefined ? text : text.replaceAll(token, "…");
    const refusal = readRefusal(statusCode, jsonOrUndefined(safe), retryAfter);
    return { kind: "refused", refusal, why: refusal.message };
  }

  async #text(body: Readable): Promise<string> {
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      bytes += chunk.length;
      if (bytes > this.#options.mostBytes) {
        const sentence = `Cannot read a response of the API server: it is over the limit of ${this.#options.mostBytes} bytes`;
        throw new PlatformError("internal_error", sentence);
      }
      chunks.push(chunk);
    }
    return Buffer.concat(chunks, bytes).toString("utf8");
  }
}

/** Rejects at once on an abort: undici aborts a request that waits for a connection only when it gets one. */
function orAborted<T>(request: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason instanceof Error ? signal.reason : timedOut());
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    request.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

function timedOut(): Error {
  return new DOMException("no response came in time", "TimeoutError");
}

function whyOf(err: unknown, signal: AbortSignal): string {
  if (signal.aborted) return "no response came in time";
  return err instanceof Error ? err.message : String(err);
}

/** The error's code; when connecting failed at several addresses, that of the first. */
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
