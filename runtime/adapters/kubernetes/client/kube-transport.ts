import type { Readable } from "node:stream";

import { Pool, type Dispatcher } from "undici";

import { PlatformError } from "../../../api/platform-error.ts";
import { parseRetryAfter } from "../../../core/calls/retry.ts";
import type { ClusterConfig } from "./cluster-config.ts";
import type { Outcome } from "./decide-again.ts";
import { readRefusal } from "./kube-refusal.ts";

/** One attempt, as it goes over the wire. */
export interface KubeExchange {
  readonly method: Dispatcher.HttpMethod;
  /** With the query. */
  readonly path: string;
  readonly body?: string;
  readonly contentType?: string;
  /** Milliseconds for all of it; of a stream, until its head is there. */
  readonly timeout: number;
  /**
   * Milliseconds after which it ends when no request at all was answered since it began: its connection may be one that
   * only this side believes open.
   */
  readonly silence?: number;
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
/** What Node says of a server that nobody we trust has signed. */
const distrust: ReadonlySet<unknown> = new Set([
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
  /** Apart: a write must not wait for thousands of lists. */
  readonly writes: Pool;
  readonly streams: Pool;
}

/** Speaks HTTP with one API server: connections, who we are, time limits. Knows nothing of kinds and of retries. */
export class KubeTransport {
  readonly #config: ClusterConfig;
  readonly #prefix: string;
  readonly #options: TransportOptions;
  /** Of before, until what is under way there has ended. */
  readonly #retired = new Set<Pool>();
  #ca: string | undefined;
  #pools: Pools;
  /** When the last request was answered, by `performance.now()`. */
  #heardAt = Number.NEGATIVE_INFINITY;

  constructor(config: ClusterConfig, options: TransportOptions) {
    this.#config = config;
    this.#options = options;
    this.#prefix = new URL(config.server).pathname.replace(/\/+$/, "");
    this.#ca = config.ca;
    this.#pools = this.#openPools();
  }

  /** The answer's JSON; undefined for an empty one. */
  async ask(exchange: KubeExchange): Promise<Attempt<unknown>> {
    const { timeout, silence = timeout, signal } = exchange;
    const over = new AbortController();
    const [startedAt, pools] = [performance.now(), this.#pools];
    const giveUp = (): void => {
      over.abort(timedOut());
      if (this.#heardAt < startedAt && this.#pools === pools) this.#renew();
    };
    // Whoever is heard meanwhile answers others: only this request is slow.
    const listen = (): void => {
      if (this.#heardAt < startedAt || silence >= timeout) giveUp();
      else timer = setTimeout(giveUp, timeout - silence);
    };
    let timer = setTimeout(listen, Math.min(silence, timeout));
    try {
      const read = async (answer: Dispatcher.ResponseData) => readJson(await this.#text(answer.body));
      return await this.#attempt(
        exchange.method === "GET" ? "reads" : "writes",
        exchange,
        signal === undefined ? over.signal : AbortSignal.any([over.signal, signal]),
        read,
      );
    } finally {
      clearTimeout(timer);
    }
  }

  /** The answer's body as it comes; whoever takes it reads it to the end or destroys it. */
  async open(exchange: KubeExchange): Promise<Attempt<Readable>> {
    const head = new AbortController();
    const timer = setTimeout(() => head.abort(timedOut()), exchange.timeout);
    const signal = exchange.signal === undefined ? head.signal : AbortSignal.any([head.signal, exchange.signal]);
    try {
      return await this.#attempt("streams", exchange, signal, (answer) => Promise.resolve(answer.body));
    } finally {
      clearTimeout(timer);
    }
  }

  /** Cuts what is under way. */
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

  /** What is asked from now on goes over new connections; what is under way goes on over the old ones. */
  #renew(): void {
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

  async #trust(): Promise<void> {
    const ca = await this.#config.caFile?.current();
    if (ca === undefined || ca === this.#ca) return;
    const isFirst = this.#ca === undefined;
    this.#ca = ca;
    // Nothing was asked over the first ones.
    if (isFirst) this.#pools = this.#openPools();
    else this.#renew();
  }

  async #attempt<T>(
    which: keyof Pools,
    { method, path, body, contentType, signal: caller }: KubeExchange,
    signal: AbortSignal,
    read: (answer: Dispatcher.ResponseData) => Promise<T>,
  ): Promise<Attempt<T>> {
    const token = await this.#config.token?.current();
    await this.#trust();
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
      const answer = await orAborted(request, signal);
      this.#heardAt = performance.now();
      if (answer.statusCode < 300) return { kind: "done", value: await read(answer) };
      if (answer.statusCode === 401) this.#config.token?.refused();
      return await this.#refused(answer, token);
    } catch (err) {
      caller?.throwIfAborted();
      if (err instanceof PlatformError) throw err;
      const code = codeIn(err);
      if (distrust.has(code)) this.#config.caFile?.refused();
      return { kind: "away", sent: !unsent.has(code) && !distrust.has(code), why: whyOf(err, signal), cause: err };
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
      if (bytes > this.#options.mostBytes) {
        const sentence = `Cannot read an answer of the API server: it is over the limit of ${this.#options.mostBytes} bytes`;
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
