import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { header } from "../../runtime/api/names.ts";
import type { SystemInfo } from "../../runtime/api/schemas/system-info.ts";
import { curlLine, eventStream, type ShownRequest } from "./curl-line.ts";
import { showEvents } from "./show-events.ts";

export interface WeirAnswer {
  readonly status: number;
  /** Of an asynchronous call that was accepted. */
  readonly callId: string | undefined;
}

/** Sends requests to one Weir and shows each, with its answer, as one would type it. */
export class WeirClient {
  readonly #gateway: string;
  readonly #dataDirectory: string;
  readonly #show: (text: string) => void;

  constructor(gateway: string, dataDirectory: string, show: (text: string) => void) {
    this.#gateway = gateway;
    this.#dataDirectory = dataDirectory;
    this.#show = show;
  }

  /** A call of a function, without credentials. */
  call(
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    body: ShownRequest["body"],
  ): Promise<WeirAnswer> {
    return this.#send({ method, url: this.#gateway + path, headers, body });
  }

  /** A request that only the administrator may make. */
  administer(method: string, path: string, body: unknown): Promise<WeirAnswer> {
    return this.#send({
      method,
      url: this.#gateway + path,
      headers: { "Content-Type": "application/json" },
      body: { text: JSON.stringify(body) },
      credentialsOf: this.#dataDirectory,
    });
  }

  /**
   * What runs the functions of this Weir, as `/system/info` calls it: `docker`, `process`.
   * @throws Error with a sentence when Weir cannot be reached or does not say
   */
  async orchestration(): Promise<string> {
    const url = `${this.#gateway}/system/info`;
    const request = { method: "GET", url, headers: {}, body: undefined, credentialsOf: this.#dataDirectory };
    const answer = await this.#fetch(request);
    if (!answer.ok) throw new Error(`Cannot ask Weir what runs its functions: it answered ${answer.status}`);
    return ((await answer.json()) as SystemInfo).provider.orchestration;
  }

  async #send(request: ShownRequest): Promise<WeirAnswer> {
    this.#show(`$ ${curlLine(request)}\n`);
    const start = performance.now();
    const answer = await this.#fetch(request);
    const callId = answer.status === 202 ? (answer.headers.get(header.callId) ?? undefined) : undefined;
    this.#show(`${answer.status} ${answer.statusText}\n`);
    if (callId !== undefined) this.#show(`${header.callId}: ${callId}\n`);
    if (answer.body !== null && answer.headers.get("Content-Type")?.startsWith(eventStream) === true)
      await showEvents(answer.body, start, this.#show);
    else await this.#showText(answer);
    return { status: answer.status, callId };
  }

  async #showText(answer: Response): Promise<void> {
    const body = await answer.text();
    this.#show(`${body === "" || body.endsWith("\n") ? body : `${body}\n`}\n`);
  }

  async #fetch({ method, url, headers, body, credentialsOf }: ShownRequest): Promise<Response> {
    const authorization = credentialsOf === undefined ? {} : { Authorization: await this.#basic(credentialsOf) };
    const content = body === undefined ? null : "text" in body ? body.text : await readFile(body.file);
    try {
      return await fetch(url, { method, headers: { ...headers, ...authorization }, body: content });
    } catch (cause) {
      throw new Error(
        `Cannot reach Weir at ${this.#gateway}: nobody answers there; start it with "npm start", or say where it is with --gateway`,
        {
          cause,
        },
      );
    }
  }

  async #basic(dataDirectory: string): Promise<string> {
    const read = async (name: string): Promise<string> => {
      const file = join(dataDirectory, "credentials", name);
      const text = await readFile(file, "utf8").catch((cause: unknown) => {
        throw new Error(
          `Cannot read "${file}": say with --data which directory your Weir uses, or start one with "npm start"`,
          { cause },
        );
      });
      return text.trim();
    };
    const pair = `${await read("basic-auth-user")}:${await read("basic-auth-password")}`;
    return `Basic ${Buffer.from(pair).toString("base64")}`;
  }
}
