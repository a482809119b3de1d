import type { Readable } from "node:stream";

import { request, type Dispatcher } from "undici";

import { release } from "../../api/version.ts";
import { CliError } from "../cli-error.ts";
import { exitCode } from "../exit-code.ts";
import { authorizationOf, type GatewayCredentials } from "./gateway-credentials.ts";
import { debugLines } from "./debug-log.ts";
import type { GatewayReply } from "./gateway-reply.ts";
import { readLimited } from "./read-limited.ts";
import { refusal } from "./refusal.ts";
import { unreachable } from "./unreachable.ts";

export interface GatewayClientOptions {
  /** Without a path and final slash. */
  readonly address: string;
  readonly credentials: GatewayCredentials | undefined;
  readonly dispatcher: Dispatcher;
  /** Milliseconds until the head of a reply. */
  readonly timeout: number;
  readonly signal: AbortSignal;
  /** Gets what `--debug` prints. */
  readonly debug: ((lines: string) => void) | undefined;
}

export interface GatewayRequest {
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it is. */
  readonly body?: Uint8Array | string | Readable;
  /** Whether credentials are sent, if there are any; default true. */
  readonly authorized?: boolean;
  /** Milliseconds until the head of the reply, instead of the client's. */
  readonly timeout?: number;
}

/** Most bytes of a JSON reply; a list of 10 000 functions takes about a third. */
const mostJson = 32 * 1024 * 1024;

/** Sends requests to one gateway. It follows no redirects. */
export class GatewayClient {
  readonly address: string;
  readonly #options: GatewayClientOptions;

  constructor(options: GatewayClientOptions) {
    this.address = options.address;
    this.#options = options;
  }

  /** Whether it has credentials to send. */
  get hasCredentials(): boolean {
    return this.#options.credentials !== undefined;
  }

  /**
   * The JSON value of a reply; undefined when it is empty.
   * @throws CliError with the gateway's sentence on 400 and more, and when it cannot be reached or read
   */
  async json<T>(method: string, path: string, options: GatewayRequest = {}): Promise<T> {
    const { body, headers } = await this.accepted(method, path, options);
    const text = await readLimited(body, mostJson);
    if (text === "") return undefined as T;
    try {
      return JSON.parse(text) as T;
    } catch (cause) {
      const type = String(headers["content-type"] ?? "no type");
      throw new CliError(
        exitCode.failed,
        `Cannot read the reply of ${this.address}: it is ${type}, not JSON; is it a Weir gateway?`,
        { cause },
      );
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
    const { credentials, debug, dispatcher, signal } = this.#options;
    const { authorized = true, timeout = this.#options.timeout } = options;
    const url = new URL(this.address + path);
    for (const [name, value] of Object.entries(options.query ?? {}))
      if (value !== undefined) url.searchParams.set(name, String(value));
    const headers: Record<string, string> = {
      accept: "application/json",
      "user-agent": `weir-cli/${release}`,
      ...(options.json === undefined ? {} : { "content-type": "application/json" }),
      ...(credentials !== undefined && authorized ? { authorization: authorizationOf(credentials) } : {}),
      ...options.headers,
    };
    debug?.(debugLines(`> ${method} ${url.href}`, headers));
    const body = options.json === undefined ? options.body : JSON.stringify(options.json);
    try {
      const reply = await request(url, {
        method,
        headers,
        body: body ?? null,
        dispatcher,
        signal,
        headersTimeout: timeout,
        bodyTimeout: 0,
      });
      debug?.(debugLines(`< ${reply.statusCode}`, reply.headers));
      return { status: reply.statusCode, headers: reply.headers, body: reply.body };
    } catch (cause) {
      throw unreachable(this.address, timeout, cause);
    }
  }
}
