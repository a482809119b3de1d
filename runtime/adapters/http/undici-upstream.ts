import { Pool, type Dispatcher } from "undici";

import type { Upstream, UpstreamCall, UpstreamListener, UpstreamRequest } from "../../core/ports/upstream.ts";

/** Durations in milliseconds. */
export interface UndiciUpstreamOptions {
  /** Longest a connection may take to open; then the replica counts as refusing. */
  readonly connectTimeout?: number;
}

/** Bounds of a function's answer (`security.md` H9). */
const headLimit = 65_536;
const mostInterimAnswers = 10;
const lastStatus = 599;

/** `Upstream` over one undici pool per address, at the level of `dispatch`. */
export class UndiciUpstream implements Upstream {
  readonly #pools = new Map<string, Pool>();
  readonly #connectTimeout: number;

  constructor(options: UndiciUpstreamOptions = {}) {
    this.#connectTimeout = options.connectTimeout ?? 1_000;
  }

  dispatch(address: string, request: UpstreamRequest, listener: UpstreamListener): UpstreamCall {
    const exchange = new Exchange(listener);
    const { target: path, method, headers, body } = request;
    this.#pool(address).dispatch({ path, method, headers, body }, exchange);
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
      pool = new Pool(`http://${address}`, {
        ...noLimits,
        connectTimeout: this.#connectTimeout,
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
    if (status < 200) {
      this.#interimAnswers += 1;
      if (this.#interimAnswers > mostInterimAnswers)
        this.#refuse(controller, `more than ${mostInterimAnswers} interim answers`);
    } else if (status > lastStatus) {
      this.#refuse(controller, `status ${status}`);
    } else {
      this.#listener.onHead(status, textsOf(controller.rawHeaders));
    }
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
