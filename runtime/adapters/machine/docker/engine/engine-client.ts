import type { Readable } from "node:stream";

import { Pool, type Dispatcher } from "undici";

import { PlatformError } from "../../../../api/platform-error.ts";
import { engineAdvice } from "./engine-advice.ts";

/** One request to the engine. */
export interface EngineRequest {
  readonly query?: Readonly<Record<string, string | readonly string[]>>;
  /** Sent as JSON; a stream is sent as it is, as a tar archive. */
  readonly body?: object | Readable;
  /** Statuses from 400 on that are not a failure. */
  readonly expected?: readonly number[];
  /** Milliseconds until the head of the response, and between two parts of its body; 0 = no limit. */
  readonly timeout?: number;
  readonly signal?: AbortSignal;
}

/** A response of the engine; an expected failure has no `body`. */
export interface EngineResponse<T> {
  readonly status: number;
  readonly body: T | undefined;
}

/** The oldest API this client speaks. */
const oldestApi = "1.41";
const defaultTimeout = 60_000;
const connectTimeout = 5_000;

/** Client of one container engine, at a socket path or `tcp://host:port`; negotiates the API version at first use. */
export class EngineClient {
  readonly #address: string;
  readonly #pool: Pool;
  #prefix: Promise<string> | undefined;

  constructor(address: string) {
    this.#address = address;
    const isPath = address.startsWith("/");
    this.#pool = new Pool(isPath ? "http://engine" : address.replace(/^tcp:/, "http:"), {
      connect: { timeout: connectTimeout, ...(isPath ? { socketPath: address } : {}) },
      connections: null,
    });
  }

  /**
   * Resolves while the engine responds.
   * @throws PlatformError `provider_unavailable` when the engine is unavailable or too old
   */
  async ping(): Promise<void> {
    await this.#send("GET", "/_ping", { timeout: 5_000 }).then(({ body }) => body.dump());
    await this.#version();
  }

  /**
   * Returns the whole response, its body of type `T` by the engine's documentation.
   * @throws PlatformError `provider_unavailable` when it is unreachable; `internal_error`, with its message, when it
   * refuses the request
   */
  async call<T>(method: Dispatcher.HttpMethod, path: string, request: EngineRequest = {}): Promise<EngineResponse<T>> {
    const { statusCode, body } = await this.#send(method, `${await this.#version()}${path}`, request);
    const text = await body.text().catch((err: unknown) => Promise.reject(this.#unavailable(err)));
    return { status: statusCode, body: statusCode >= 400 || text === "" ? undefined : (readJson(text) as T) };
  }

  /** The body as a stream; the caller reads it to the end or destroys it. Throws as `call` does. */
  async stream(method: Dispatcher.HttpMethod, path: string, request: EngineRequest = {}): Promise<Readable> {
    return (await this.#send(method, `${await this.#version()}${path}`, request)).body;
  }

  /** Aborts requests in flight. */
  async close(): Promise<void> {
    await this.#pool.destroy();
  }

  async #send(method: Dispatcher.HttpMethod, path: string, request: EngineRequest): Promise<Dispatcher.ResponseData> {
    const { query, body, timeout = defaultTimeout, signal, expected = [] } = request;
    const isStream = body !== undefined && "pipe" in body;
    let response: Dispatcher.ResponseData;
    try {
      response = await this.#pool.request({
        method,
        path: `${path}${formatQuery(query)}`,
        headersTimeout: timeout,
        bodyTimeout: timeout,
        ...(body === undefined ? {} : { body: isStream ? body : JSON.stringify(body) }),
        headers: body === undefined ? {} : { "content-type": isStream ? "application/x-tar" : "application/json" },
        ...(signal === undefined ? {} : { signal }),
      });
    } catch (err) {
      throw signal?.aborted === true ? err : this.#unavailable(err);
    }
    if (response.statusCode < 400 || expected.includes(response.statusCode)) return response;
    const text = await response.body.text().catch(() => "");
    throw new PlatformError(
      "internal_error",
      messageIn(text) ?? `the container engine answered ${response.statusCode}`,
    );
  }

  #version(): Promise<string> {
    this.#prefix ??= this.#negotiate().catch((err: unknown) => {
      this.#prefix = undefined;
      throw err;
    });
    return this.#prefix;
  }

  async #negotiate(): Promise<string> {
    const { body } = await this.#send("GET", "/version", {});
    const version = readJson(await body.text()) as { ApiVersion?: string; MinAPIVersion?: string } | undefined;
    const { ApiVersion: newest = "0.0", MinAPIVersion: oldest = oldestApi } = version ?? {};
    if (compareVersions(newest, oldestApi) < 0) {
      throw new PlatformError(
        "provider_unavailable",
        `Cannot use the container engine at "${this.#address}": it speaks API ${newest}, at least ${oldestApi} is needed`,
      );
    }
    return `/v${compareVersions(oldest, oldestApi) > 0 ? oldest : oldestApi}`;
  }

  #unavailable(cause: unknown): PlatformError {
    // The engine may come back with another version.
    this.#prefix = undefined;
    const message = cause instanceof Error ? cause.message : String(cause);
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : undefined;
    const advice = engineAdvice(this.#address, code);
    const sentence = `Cannot reach the container engine at "${this.#address}": ${message}${advice === undefined ? "" : `; ${advice}`}`;
    return new PlatformError("provider_unavailable", sentence, { cause });
  }
}

/** Negative when `a` is older than `b`. */
function compareVersions(a: string, b: string): number {
  const [aMajor = 0, aMinor = 0] = a.split(".").map(Number);
  const [bMajor = 0, bMinor = 0] = b.split(".").map(Number);
  return aMajor - bMajor || aMinor - bMinor;
}

function formatQuery(query: EngineRequest["query"]): string {
  const pairs = Object.entries(query ?? {}).flatMap(([key, value]) =>
    (typeof value === "string" ? [value] : value).map((item) => [key, item]),
  );
  return pairs.length === 0 ? "" : `?${new URLSearchParams(pairs).toString()}`;
}

/** Undefined for text that is not JSON. */
function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function messageIn(text: string): string | undefined {
  const refusal = readJson(text) as { message?: string } | undefined;
  return refusal?.message ?? (text.trim() === "" ? undefined : text.trim());
}
