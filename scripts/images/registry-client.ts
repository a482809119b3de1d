import { createReadStream } from "node:fs";
import type { Readable } from "node:stream";

import { Agent, type Dispatcher } from "undici";

/** Credentials for pushing to a registry. */
export interface RegistryCredentials {
  readonly user: string;
  readonly password: string;
}

export interface RegistryRequest {
  readonly headers?: Readonly<Record<string, string>>;
  /** Called again when the request is repeated with credentials. */
  readonly body?: () => string | Readable;
  /** Expected statuses; any other is an error. */
  readonly expected: readonly number[];
}

const timeout = 300_000;

/** A client for one repository of a registry, by the distribution API of the Open Container Initiative. */
export class RegistryClient {
  readonly origin: string;
  readonly #repository: string;
  readonly #credentials: RegistryCredentials | undefined;
  readonly #agent = new Agent({ headersTimeout: timeout, bodyTimeout: timeout });
  #authorization: string | undefined;

  constructor(origin: string, repository: string, credentials: RegistryCredentials | undefined) {
    this.origin = origin;
    this.#repository = repository;
    this.#credentials = credentials;
  }

  /**
   * The response with its body read; `path` is below the repository, or an address that the registry returned.
   * @throws Error with a sentence for an unexpected response
   */
  async send(method: Dispatcher.HttpMethod, path: string, request: RegistryRequest): Promise<RegistryAnswer> {
    const address = new URL(path, `${this.origin}/v2/${this.#repository}/`);
    let response = await this.#try(method, address, request);
    if (response.status === 401 && (await this.#authorize(response.challenge)))
      response = await this.#try(method, address, request);
    if (request.expected.includes(response.status)) return response;
    const because = response.text.trim() === "" ? "" : `: ${response.text.trim().slice(0, 500)}`;
    throw new Error(
      `Cannot use registry "${address.host}": it answered ${response.status} to ${method} ${address.pathname}${because}`,
    );
  }

  /** A file as the body of a request. */
  static file(path: string): () => Readable {
    return () => createReadStream(path);
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  async #try(method: Dispatcher.HttpMethod, address: URL, request: RegistryRequest): Promise<RegistryAnswer> {
    // Credentials for the registry are not sent to the servers that store its blobs.
    const own = address.origin === this.origin && this.#authorization !== undefined;
    const body = request.body?.();
    const {
      statusCode,
      headers,
      body: response,
    } = await this.#agent
      .request({
        origin: address.origin,
        path: `${address.pathname}${address.search}`,
        method,
        headers: { ...request.headers, ...(own ? { authorization: this.#authorization } : {}) },
        ...(body === undefined ? {} : { body }),
      })
      .catch((cause: unknown) => {
        const reason = cause instanceof Error ? cause.message : String(cause);
        throw new Error(`Cannot reach the registry "${address.host}": ${reason}`, { cause });
      });
    return {
      status: statusCode,
      location: only(headers["location"]),
      digest: only(headers["docker-content-digest"]),
      challenge: only(headers["www-authenticate"]),
      text: await response.text(),
    };
  }

  /** Obtains credentials for the challenge; returns whether they are new. */
  async #authorize(challenge = ""): Promise<boolean> {
    const scheme = /^(\w+)/.exec(challenge)?.[1]?.toLowerCase();
    const basic = this.#credentials === undefined ? undefined : basicOf(this.#credentials);
    const next = scheme === "bearer" ? await this.#token(challenge, basic) : scheme === "basic" ? basic : undefined;
    const isNew = next !== undefined && next !== this.#authorization;
    this.#authorization = next;
    return isNew;
  }

  async #token(challenge: string, basic: string | undefined): Promise<string> {
    const fields = new Map([...challenge.matchAll(/(\w+)="([^"]*)"/g)].map(([, key = "", value = ""]) => [key, value]));
    const realm = new URL(fields.get("realm") ?? "", this.origin);
    if (realm.protocol !== new URL(this.origin).protocol && realm.protocol !== "https:")
      throw new Error(`Cannot push to "${this.origin}": it asks for the password in clear, at "${realm.origin}"`);
    const service = fields.get("service");
    if (service !== undefined) realm.searchParams.set("service", service);
    realm.searchParams.set("scope", fields.get("scope") ?? `repository:${this.#repository}:pull,push`);
    const { statusCode, body } = await this.#agent.request({
      origin: realm.origin,
      path: `${realm.pathname}${realm.search}`,
      method: "GET",
      headers: basic === undefined ? {} : { authorization: basic },
    });
    const text = await body.text();
    if (statusCode !== 200) throw new Error(`Cannot push: "${realm.host}", which gives tokens, answered ${statusCode}`);
    const { token, access_token: other } = JSON.parse(text) as { token?: string; access_token?: string };
    return `Bearer ${token ?? other ?? ""}`;
  }
}

/** A response of a registry. */
export interface RegistryAnswer {
  readonly status: number;
  readonly location: string | undefined;
  readonly digest: string | undefined;
  readonly challenge: string | undefined;
  readonly text: string;
}

function basicOf({ user, password }: RegistryCredentials): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
}

function only(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
