import type { Readable } from "node:stream";

import type { Dispatcher } from "undici";

import { release } from "../../api/version.ts";
import { CliError } from "../cli-error.ts";
import { exitCode } from "../exit-code.ts";
import { authorizationOf, isEnding, type GatewayCredentials } from "./gateway-credentials.ts";
import { debugLines } from "./debug-log.ts";
import type { GatewayReply } from "./gateway-reply.ts";
import { escapeLine } from "../output/escape-text.ts";
import { JsonElements } from "./json-elements.ts";
import { limitedChunks, readLimited } from "./read-limited.ts";
import { refusal } from "./refusal.ts";
import { unreachable } from "./unreachable.ts";

export interface GatewayClientOptions {
  /** Without a path and final slash. */
  readonly address: string;
  readonly credentials: GatewayCredentials | undefined;
  /** Gets another token when the one of a sign-in ends; without it that is sent nevertheless. */
  readonly renew?: (() => Promise<GatewayCredentials>) | undefined;
  readonly dispatcher: Dispatcher;
  /** Milliseconds until the head of a reply. */
  readonly timeout: number;
  readonly signal: AbortSignal;
  /** Gets what `--debug` prints. */
  readonly debug: ((lines: string) => void) | undefined;
}

export interface GatewayRequest {
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it is. */
  readonly body?: Uint8Array | string | Readable;
  /** Whether credentials are sent, if there are any; default true. */
  readonly authorized?: boolean;
  /** Milliseconds until the head of the reply, instead of the client's. */
  readonly timeout?: number;
  /** Longest time without a byte of the reply's body, milliseconds; default none, for `json` and `text` as the timeout. */
  readonly idleTimeout?: number;
}

/** Most bytes of a JSON reply; a list of 10 000 functions takes about a third. */
const mostJson = 32 * 1024 * 1024;

/** Sends requests to one gateway. It follows no redirects. */
export class GatewayClient {
  readonly address: string;
  readonly #options: GatewayClientOptions;
  #credentials: GatewayCredentials | undefined;
  #renewing: Promise<GatewayCredentials> | undefined;

  constructor(options: GatewayClientOptions) {
    this.address = options.address;
    this.#options = options;
    this.#credentials = options.credentials;
  }

  /** Who signs in: the user, or `token`; undefined without credentials. */
  get user(): string | undefined {
    const credentials = this.#credentials;
    return credentials?.kind === "basic" ? credentials.user : credentials && "token";
  }

  /** Whether it has credentials to send. */
  get hasCredentials(): boolean {
    return this.#credentials !== undefined;
  }

  /**
   * The JSON value of a reply; undefined when it is empty.
   * @throws CliError with the gateway's sentence on 400 and more, and when it cannot be reached or read
   */
  async json<T>(method: string, path: string, options: GatewayRequest = {}): Promise<T> {
    const idleTimeout = options.timeout ?? this.#options.timeout;
    const { body, headers } = await this.accepted(method, path, { idleTimeout, ...options });
    const text = await readLimited(body, mostJson);
    if (text === "") return undefined as T;
    try {
      return JSON.parse(text) as T;
    } catch (cause) {
      throw this.#unreadable(headers, cause);
    }
  }

  /**
   * Any reply with its body as text, of at most `limit` bytes.
   * @throws CliError when it cannot be reached or read
   */
  async text(
    method: string,
    path: string,
    options: GatewayRequest,
    limit: number,
  ): Promise<{ readonly status: number; readonly text: string }> {
    const idleTimeout = options.timeout ?? this.#options.timeout;
    const { status, body } = await this.send(method, path, { idleTimeout, ...options });
    return { status, text: await readLimited(body, limit, `the reply of ${this.address}`) };
  }

  /**
   * What `keep` makes of each element of a list, which is read as it comes; undefined if the reply is no list.
   * @throws CliError as `json`
   */
  async list<T>(path: string, options: GatewayRequest, keep: (element: unknown) => T): Promise<T[] | undefined> {
    const { body, headers } = await this.accepted("GET", path, { idleTimeout: this.#options.timeout, ...options });
    const kept: T[] = [];
    const elements = new JsonElements((element) => void kept.push(keep(element)));
    try {
      for await (const chunk of limitedChunks(body, mostJson)) elements.add(chunk);
      return elements.end().isList ? kept : undefined;
    } catch (err) {
      throw err instanceof SyntaxError ? this.#unreadable(headers, err) : err;
    }
  }

  /**
   * A reply whose status is below 300.
   * @throws CliError as `json`
   */
  async accepted(method: string, path: string, options: GatewayRequest = {}): Promise<GatewayReply> {
    const reply = await this.send(method, path, options);
    if (reply.status < 300) return reply;
    throw await refusal(this.address, method, path, reply);
  }

  /**
   * Any reply, as soon as its head is there.
   * @throws CliError when the gateway cannot be reached or does not respond in time
   */
  async send(method: string, path: string, options: GatewayRequest = {}): Promise<GatewayReply> {
    const { debug, dispatcher, signal } = this.#options;
    const { authorized = true, timeout = this.#options.timeout, idleTimeout = 0 } = options;
    const { origin } = new URL(this.address);
    const target = targetOf(this.address.slice(origin.length) + path, options.query);
    const credentials = authorized ? await this.#currentCredentials() : undefined;
    const headers: Record<string, string | string[]> = {
      accept: "application/json",
      "user-agent": `weir-cli/${release}`,
      ...(options.json === undefined ? {} : { "content-type": "application/json" }),
      ...(credentials === undefined ? {} : { authorization: authorizationOf(credentials) }),
      ...copyOf(options.headers),
    };
    debug?.(debugLines(`> ${method} ${origin}${target}`, headers));
    const body = options.json === undefined ? options.body : JSON.stringify(options.json);
    try {
      const reply = await dispatcher.request({
        origin,
        path: target,
        method,
        headers,
        body: body ?? null,
        signal,
        headersTimeout: timeout,
        bodyTimeout: idleTimeout,
      });
      debug?.(debugLines(`< ${reply.statusCode}`, reply.headers));
      return { status: reply.statusCode, headers: reply.headers, body: reply.body };
    } catch (cause) {
      throw unreachable(this.address, timeout, cause);
    }
  }

  async #currentCredentials(): Promise<GatewayCredentials | undefined> {
    const { renew } = this.#options;
    if (renew === undefined || !isEnding(this.#credentials)) return this.#credentials;
    this.#renewing ??= renew().finally(() => {
      this.#renewing = undefined;
    });
    this.#credentials = await this.#renewing;
    return this.#credentials;
  }

  #unreadable(headers: GatewayReply["headers"], cause: unknown): CliError {
    const type = escapeLine(String(headers["content-type"] ?? "of no type"));
    return new CliError(
      exitCode.failed,
      `Cannot read the reply of ${this.address}: it is ${type}, not JSON; is it a Weir gateway?`,
      { cause },
    );
  }
}

/** Path and query as they are sent: `path` byte for byte, which a URL would not keep (`/a/../b`, `%2e`). */
function targetOf(path: string, query: GatewayRequest["query"] = {}): string {
  const added = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) added.set(name, String(value));
  if (added.size === 0) return path;
  return `${path}${path.includes("?") ? "&" : "?"}${added.toString()}`;
}

function copyOf(headers: GatewayRequest["headers"] = {}): Record<string, string | string[]> {
  const entries = Object.entries(headers);
  return Object.fromEntries(entries.map(([name, value]) => [name, typeof value === "string" ? value : [...value]]));
}
