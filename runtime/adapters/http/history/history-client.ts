import { readFile } from "node:fs/promises";

import { Pool, type Dispatcher } from "undici";

import {
  decodeHistoryValue,
  encodeHistoryValue,
  historyAuthorization,
  historyMetricsPath,
  historyPath,
  historyProgressPath,
  historyRequestMax,
  historyResponseMax,
  type HistoryOperation,
} from "../../../api/schemas/history/history-wire.ts";
import { PlatformError } from "../../../api/platform-error.ts";
import { publicly, type PublicSentence } from "../../../api/public-sentence.ts";

export interface HistoryClientOptions {
  /** The path of the process's socket, or its `http://` address. */
  readonly address: string;
  /** File with the key that it asks for; absent: it asks for none. */
  readonly keyFile?: string | undefined;
  /** Milliseconds for a whole request; 2 s when absent. */
  readonly timeout?: number;
}

const defaultTimeout = 2_000;
/** Requests at the same time; each further one is refused. */
const mostRequests = 32;
/** Seconds after which a client may ask again. */
const retryAfterSeconds = 2;
/** Characters of a sentence of the process that are passed on. */
const longestReason = 300;

type HistoryRequest = Pick<Dispatcher.RequestOptions, "method" | "path" | "body">;

/** Asks the history process. Its failures are `history_unavailable`. */
export class HistoryClient {
  readonly #options: HistoryClientOptions;
  readonly #pool: Pool;
  #inFlight = 0;

  constructor(options: HistoryClientOptions) {
    this.#options = options;
    const isPath = options.address.startsWith("/");
    this.#pool = new Pool(isPath ? "http://history" : options.address, {
      connect: { timeout: options.timeout ?? defaultTimeout, ...(isPath ? { socketPath: options.address } : {}) },
      connections: mostRequests,
    });
  }

  /** The result of an operation, of the type that its method of the port has. */
  async ask<T>(operation: HistoryOperation, argument?: unknown): Promise<T> {
    const body = encodeHistoryValue(argument);
    if (Buffer.byteLength(body) > historyRequestMax) {
      throw unavailable(`the request is over the limit of ${historyRequestMax} bytes`);
    }
    return (await this.#admitted({ method: "POST", path: historyPath(operation), body }, decodeHistoryValue)) as T;
  }

  /** How far the history is, as the process says. */
  async progress<T>(): Promise<T> {
    return (await this.#admitted({ method: "GET", path: historyProgressPath }, decodeHistoryValue)) as T;
  }

  /** Its metrics, as Prometheus reads them. */
  metrics(): Promise<string> {
    return this.#admitted({ method: "GET", path: historyMetricsPath }, (text) => text);
  }

  /** Aborts requests in flight. */
  async close(): Promise<void> {
    await this.#pool.destroy();
  }

  async #admitted<T>(request: HistoryRequest, read: (text: string) => T): Promise<T> {
    if (this.#inFlight >= mostRequests) throw unavailable(`${mostRequests} requests wait for it already`);
    this.#inFlight += 1;
    try {
      return await this.#exchange(request, read);
    } finally {
      this.#inFlight -= 1;
    }
  }

  async #exchange<T>(request: HistoryRequest, read: (text: string) => T): Promise<T> {
    const { timeout = defaultTimeout } = this.#options;
    const signal = AbortSignal.timeout(timeout);
    try {
      const headers = { "content-type": "application/json", ...(await this.#authorization()) };
      const response = await this.#pool.request({ ...request, headers, signal });
      const text = await textOf(response);
      if (response.statusCode === 200) return read(text);
      throw new Error(text.trim().slice(0, longestReason) || `it replied ${response.statusCode}`);
    } catch (err) {
      if (signal.aborted) throw unavailable(publicly`no reply within ${timeout} ms`, err);
      if (isNotListening(err)) throw unavailable(publicly`it is starting; try again in a moment`, err);
      throw unavailable(reasonIn(err), err);
    }
  }

  /** Read each time: the key may be replaced. */
  async #authorization(): Promise<Record<string, string>> {
    const { keyFile } = this.#options;
    if (keyFile === undefined) return {};
    const key = (await readFile(keyFile, "utf8")).trim();
    if (key === "") throw new Error(`the key file "${keyFile}" is empty`);
    return { authorization: historyAuthorization(key) };
  }
}

async function textOf({ body }: Dispatcher.ResponseData): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    length += chunk.length;
    // Leaving the loop destroys the body and its connection.
    if (length > historyResponseMax) throw new Error(`its reply is over the limit of ${historyResponseMax} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length).toString();
}

function unavailable(reason: string | PublicSentence, cause?: unknown): PlatformError {
  const sentence =
    typeof reason === "string"
      ? `Cannot read the history of calls: ${reason}`
      : publicly`Cannot read the history of calls: ${reason}`;
  return new PlatformError("history_unavailable", sentence, { retryAfterSeconds, cause });
}

/** Nobody listens at its socket or address yet, or it is restarted. */
function isNotListening(err: unknown): boolean {
  if (!(err instanceof Error) || !("code" in err)) return false;
  return err.code === "ECONNREFUSED" || (err.code === "ENOENT" && "syscall" in err && err.syscall === "connect");
}

/** Connecting to several addresses of a name fails with a code and no message. */
function reasonIn(err: unknown): string {
  if (!(err instanceof Error)) return String(err);
  return err.message === "" && "code" in err ? String(err.code) : err.message;
}
