import { createReadStream } from "node:fs";
import type { Readable } from "node:stream";

import { Agent, type Dispatcher } from "undici";

/** What a registry asks of those who push. */
export interface RegistryCredentials {
  readonly user: string;
  readonly password: string;
}

export interface RegistryRequest {
  readonly headers?: Readonly<Record<string, string>>;
  /** Made anew when the request is sent again with credentials. */
  readonly body?: () => string | Readable;
  /** Statuses that are an answer. */
  readonly expected: readonly number[];
}

const timeout = 300_000;

/** Speaks to one registry, by the distribution API of the Open Container Initiative, as one repository needs it. */
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
   * The answer with its body read; `path` is below the repository, or an address that the registry gave.
   * @throws Error with a sentence for an answer that is not expected
   */
  async send(method: Dispatcher.HttpMethod, path: string, request: RegistryRequest): Promise<RegistryAnswer> {
    const address = new URL(path, `${this.origin}/v2/${this.#repository}/`);
    let answer = await this.#try(method, address, request);
    if (answer.status === 401 && (await this.#authorize(answer.challenge)))
      answer = await this.#try(method, address, request);
    if (request.expected.includes(answer.status)) return answer;
    const because = answer.text.trim() === "" ? "" : `: ${answer.text.trim().slice(0, 500)}`;
    throw new Error(
      `Cannot use registry "${address.host}": it answered ${answer.status} to ${method} ${address.pathname}${because}`,
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
    // Whoever stores for a registry is told nothing that was meant for the registry.
    const own = address.origin === this.origin && this.#authorization !== undefined;
    const body = request.body?.();
    const {
      statusCode,
      headers,
      body: answer,
    } = await this.#agent
      .request({
        origin: address.origin,
        path: `${address.pathname}${address.search}`,
        method,
        headers: { ...request.headers, ...(own ? { authorization: this.#authorization } : {}) },
        ...(body === undefined ? {} : { body }),
      })
      .catch((cause: unknown) => {
        const why = cause instanceof Error ? cause.message : String(cause);
        throw new Error(`Cannot reach the registry "${address.host}": ${why}`, { cause });
      });
    return {
      status: statusCode,
      location: only(headers["location"]),
      digest: only(headers["docker-content-digest"]),
      challenge: only(headers["www-authenticate"]),
      text: await answer.text(),
    };
  }

  /** Whether there is something new to show. */
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

/** What a registry said. */
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
