import type { Duplex } from "node:stream";

import { Pool, type buildConnector, type Dispatcher } from "undici";

import { headerValue } from "../../../core/headers/header-list.ts";
import type { Upstream, UpstreamCall, UpstreamListener, UpstreamRequest } from "../../../core/ports/upstream.ts";
import { joinHeaders } from "../../../core/headers/cached-headers.ts";
import { framingFault } from "../../../http1/framing-fault.ts";
import { pinnedConnector } from "./pinned-connector.ts";

/** Durations in milliseconds. */
export interface UndiciUpstreamOptions {
  /** Longest a connection may take to open; then the replica counts as refusing. */
  readonly connectTimeout?: number;
  /** Certificate (PEM) that servers spoken to with TLS must show. */
  readonly certificate?: string | Buffer | undefined;
}

/** Bounds of a function's answer (`security.md` H9). */
const headLimit = 65_536;
const mostInterimAnswers = 10;
const statuses = { interim: 100, switching: 101, final: 200, last: 599 } as const;

/** `Upstream` over one undici pool per address (`host:port`, or an origin), at the level of `dispatch`: HTTP/1.1 alone. */
export class UndiciUpstream implements Upstream {
  readonly #pools = new Map<string, Pool>();
  readonly #connectTimeout: number;
  readonly #connect: buildConnector.connector | undefined;

  constructor(options: UndiciUpstreamOptions = {}) {
    this.#connectTimeout = options.connectTimeout ?? 1_000;
    const { certificate } = options;
    this.#connect = certificate === undefined ? undefined : pinnedConnector(certificate, this.#connectTimeout);
  }

  dispatch(address: string, request: UpstreamRequest, listener: UpstreamListener): UpstreamCall {
    const exchange = new Exchange(listener);
    const { target: path, method, body, upgrade = null } = request;
    const headers = joinHeaders(request.forward, request.headers);
    this.#pool(address).dispatch({ path, method, headers, body, upgrade }, exchange);
    return exchange;
  }

  forget(address: string): void {
    const pool = this.#pools.get(address);
    this.#pools.delete(address);
    void pool?.close();
  }

  async close(): Promise<void> {
    const pools = [...this.#pools.values()];
    this.#pools.clear();
    await Promise.all(pools.map((pool) => pool.destroy()));
  }

  #pool(address: string): Pool {
    let pool = this.#pools.get(address);
    if (pool === undefined) {
      // The limits of time are the caller's; those of undici would need a timer per exchange.
      const noLimits = { headersTimeout: 0, bodyTimeout: 0 };
      pool = new Pool(address.includes("://") ? address : `http://${address}`, {
        ...noLimits,
        ...(this.#connect === undefined || !address.startsWith("https:")
          ? { connectTimeout: this.#connectTimeout }
          : { connect: this.#connect }),
        maxHeaderSize: headLimit,
        allowH2: false,
      });
      this.#pools.set(address, pool);
    }
    return pool;
  }
}

class Exchange implements UpstreamCall, Dispatcher.DispatchHandler {
  readonly #listener: UpstreamListener;
  #controller: Dispatcher.DispatchController | undefined;
  #interimAnswers = 0;
  /** Ended or aborted: the listener hears nothing more. */
  #over = false;

  constructor(listener: UpstreamListener) {
    this.#listener = listener;
  }

  resume(): void {
    this.#controller?.resume();
  }

  abort(): void {
    if (this.#over) return;
    this.#over = true;
    this.#controller?.abort(new Error("aborted by the caller"));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#over) controller.abort(new Error("aborted by the caller"));
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number): void {
    if (this.#over) return;
    if (status < statuses.interim || status === statuses.switching || status > statuses.last) {
      this.#refuse(controller, `status ${status}`);
    } else if (status < statuses.final) {
      this.#interimAnswers += 1;
      if (this.#interimAnswers > mostInterimAnswers)
        this.#refuse(controller, `more than ${mostInterimAnswers} interim answers`);
    } else {
      const headers = textsOf(controller.rawHeaders);
      const fault = framingFault(headers);
      if (fault === undefined) this.#listener.onHead(status, headers);
      else this.#refuse(controller, fault);
    }
  }

  /** Called only for a request that asked for it. */
  onRequestUpgrade(
    { rawHeaders }: Dispatcher.DispatchController,
    status: number,
    _headers: unknown,
    connection: Duplex,
  ): void {
    const headers = textsOf(rawHeaders);
    const agreed = status === statuses.switching && headerValue(headers, "upgrade")?.toLowerCase() === "websocket";
    if (!this.#over && agreed && this.#listener.onUpgrade !== undefined) {
      this.#over = true;
      this.#listener.onUpgrade(headers, connection);
      return;
    }
    connection.destroy();
    if (this.#over) return;
    this.#over = true;
    this.#listener.onError("malformed", new Error("the answer changes to a protocol nobody asked for"));
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#over && !this.#listener.onData(chunk)) controller.pause();
  }

  onResponseEnd(): void {
    if (this.#over) return;
    this.#over = true;
    this.#listener.onEnd();
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, err: Error): void {
    if (this.#over) return;
    this.#over = true;
    this.#listener.onError(this.#controller === undefined ? "refused" : kindOf(err), err);
  }

  #refuse(controller: Dispatcher.DispatchController, why: string): void {
    this.#over = true;
    const err = new Error(`the answer has ${why}`);
    controller.abort(err);
    this.#listener.onError("malformed", err);
  }
}

function textsOf(rawHeaders: Dispatcher.DispatchController["rawHeaders"]): string[] {
  const texts: string[] = [];
  if (!Array.isArray(rawHeaders)) return texts;
  for (const raw of rawHeaders) texts.push(typeof raw === "string" ? raw : raw.toString("latin1"));
  return texts;
}

const malformedErrors: ReadonlySet<string> = new Set([
  "HTTPParserError",
  "HeadersOverflowError",
  "ResponseContentLengthMismatchError",
]);
/** Words of undici for an answer that begins with 100 or an upgrade nobody asked for. */
const malformedMessages: ReadonlySet<string> = new Set(["bad response", "bad upgrade"]);

function kindOf(err: Error): "reset" | "malformed" {
  return malformedErrors.has(err.name) || malformedMessages.has(err.message) ? "malformed" : "reset";
}
