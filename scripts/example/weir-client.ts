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

/** Sends requests to one Weir and shows each as a shell command, with its response. */
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
   * What runs the functions of this Weir, as named by `/system/info`: `docker`, `process`.
   * @throws Error with a sentence when Weir cannot be reached or does not report it
   */
  async orchestration(): Promise<string> {
    const url = `${this.#gateway}/system/info`;
    const request = { method: "GET", url, headers: {}, body: undefined, credentialsOf: this.#dataDirectory };
    const response = await this.#fetch(request);
    if (!response.ok) throw new Error(`Cannot ask Weir what runs its functions: it responded ${response.status}`);
    return ((await response.json()) as SystemInfo).provider.orchestration;
  }

  async #send(request: ShownRequest): Promise<WeirAnswer> {
    this.#show(`$ ${curlLine(request)}\n`);
    const start = performance.now();
    const response = await this.#fetch(request);
    const callId = response.status === 202 ? (response.headers.get(header.callId) ?? undefined) : undefined;
    this.#show(`${response.status} ${response.statusText}\n`);
    if (callId !== undefined) this.#show(`${header.callId}: ${callId}\n`);
    if (response.body !== null && response.headers.get("Content-Type")?.startsWith(eventStream) === true)
      await showEvents(response.body, start, this.#show);
    else await this.#showText(response);
    return { status: response.status, callId };
  }

  async #showText(response: Response): Promise<void> {
    const body = await response.text();
    this.#show(`${body === "" || body.endsWith("\n") ? body : `${body}\n`}\n`);
  }

  async #fetch({ method, url, headers, body, credentialsOf }: ShownRequest): Promise<Response> {
    const authorization = credentialsOf === undefined ? {} : { Authorization: await this.#basic(credentialsOf) };
    const content = body === undefined ? null : "text" in body ? body.text : await readFile(body.file);
    try {
      return await fetch(url, { method, headers: { ...headers, ...authorization }, body: content });
    } catch (cause) {
      throw new Error(
        `Cannot reach Weir at ${this.#gateway}: nothing responds there; start it with "npm start", or say where it is with --gateway`,
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
