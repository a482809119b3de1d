import type { Readable } from "node:stream";

import { Agent, request as send, type Dispatcher } from "undici";

import { isClusterIssuer, judgeIssuerUrl, type IssuerAddresses } from "../../../core/access/tokens/issuer-addresses.ts";
import { judgeUrl, rulesAtConnect, type CallbackRules } from "../../../core/callbacks/callback-policy.ts";
import {
  IssuerUnavailableError,
  type IssuerDocuments,
  type IssuerRequest,
} from "../../../core/ports/issuer-documents.ts";
import { checkedConnector } from "../outside/checked-connector.ts";
import type { OutsideNetwork } from "../outside/outside-network.ts";
import { outsideNetwork, type EgressProxy } from "../outside/proxied-network.ts";

/** A file of the gateway's own account, which may change. */
export interface AccountFile {
  current(): Promise<string>;
  /** The content was refused: the next `current` reads it again. */
  refused(): void;
}

export interface IssuerDocumentOptions extends Pick<
  CallbackRules,
  "closedPorts" | "gatewayPorts" | "ownAddresses" | "isReplica"
> {
  /** How the API server of the cluster is asked for its keys; absent outside a cluster. */
  readonly account?: { readonly ca: AccountFile; readonly token: AccountFile } | undefined;
  /** Milliseconds for a whole request; 5 s when absent. */
  readonly timeout?: number;
  /** The proxy that leads outside, if there is one. */
  readonly egress?: EgressProxy;
  /** Absent: this machine's. */
  readonly network?: OutsideNetwork;
}

const defaultTimeout = 5_000;
const mostBytes = 262_144;
/** Statuses whose responses have no body. */
const emptyStatuses: ReadonlySet<number> = new Set([204, 205, 304]);

/** Fetches from issuers with undici: each time on a connection of its own, so that each address is judged. */
export class HttpIssuerDocuments implements IssuerDocuments {
  readonly #options: IssuerDocumentOptions;
  readonly #outside: OutsideNetwork;

  constructor(options: IssuerDocumentOptions) {
    this.#options = options;
    this.#outside = outsideNetwork(options.egress, options.network);
  }

  async fetchFromIssuer(issuer: IssuerAddresses, text: string, request: IssuerRequest = {}): Promise<Response> {
    const { timeout = defaultTimeout } = this.#options;
    const limit = AbortSignal.timeout(timeout);
    const signal = request.signal === undefined ? limit : AbortSignal.any([limit, request.signal]);
    const fail = (why: string, cause?: unknown) =>
      // A query may hold what is in no log.
      new IssuerUnavailableError(`Cannot read "${text.split("?", 1)[0]?.slice(0, 200)}": ${why}`, { cause });
    const url = URL.parse(text);
    if (url === null) throw fail("it is not a valid address");
    const rules = this.#rulesFor(url, issuer);
    if (typeof rules === "string") throw fail(rules);
    try {
      return await beforeAbort(this.#exchange(url, issuer, rules, request, signal), signal);
    } catch (err) {
      if (limit.aborted) throw fail(`no complete response in ${timeout} ms`, err);
      throw fail(reasonOf(err), err);
    }
  }

  /** How the address is judged on connecting, or why it is refused by its text. */
  #rulesFor(url: URL, issuer: IssuerAddresses): CallbackRules | string {
    const reach = judgeIssuerUrl(url, issuer);
    if (reach.kind === "refused") return reach.why;
    const { closedPorts, gatewayPorts, ownAddresses, isReplica } = this.#options;
    const closed = { closedPorts, gatewayPorts, ownAddresses, isReplica };
    const rules = { ...closed, policy: reach.addresses, allow: [], gatewayOrigins: [] };
    return judgeUrl(url, rules) ?? rulesAtConnect(url, rules);
  }

  async #exchange(
    url: URL,
    issuer: IssuerAddresses,
    rules: CallbackRules,
    { method = "GET", headers, body }: IssuerRequest,
    signal: AbortSignal,
  ): Promise<Response> {
    const { timeout = defaultTimeout } = this.#options;
    const network = isInternal(url, issuer) ? (this.#outside.inside ?? this.#outside) : this.#outside;
    // The token of the account goes to the very address that the administrator wrote, and nowhere else.
    const account =
      isClusterIssuer(issuer) && url.origin === URL.parse(issuer.internal ?? "")?.origin
        ? this.#options.account
        : undefined;
    const tls = account === undefined ? {} : { ca: await account.ca.current() };
    const content = new Response(body ?? null);
    const sent = new Headers(headers);
    const type = content.headers.get("content-type");
    if (type !== null && !sent.has("content-type")) sent.set("content-type", type);
    if (!sent.has("user-agent")) sent.set("user-agent", "weir");
    if (account !== undefined) sent.set("authorization", `Bearer ${await account.token.current()}`);
    const agent = new Agent({
      connect: checkedConnector(rules, timeout, network, tls),
      headersTimeout: timeout,
      bodyTimeout: timeout,
      allowH2: false,
    });
    // A request that waits for its connection is ended by this alone.
    signal.addEventListener("abort", () => void agent.destroy(), { once: true });
    try {
      signal.throwIfAborted();
      const response = await send(url, {
        dispatcher: agent,
        method,
        headers: Object.fromEntries(sent),
        body: content.body === null ? null : await content.bytes(),
        signal,
      });
      if (response.statusCode === 401) account?.token.refused();
      return await wholeResponse(response);
    } catch (err) {
      account?.ca.refused();
      throw err;
    } finally {
      await agent.destroy();
    }
  }
}

/** Whether it is at the address that is for the platform alone. */
function isInternal(url: URL, { internal }: IssuerAddresses): boolean {
  return internal !== undefined && URL.parse(internal)?.host === url.host;
}

async function wholeResponse({ statusCode, headers, body }: Dispatcher.ResponseData): Promise<Response> {
  const bytes = await bytesOf(body);
  const list = Object.entries(headers).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : value === undefined ? [] : [value]).map((each): [string, string] => [name, each]),
  );
  return new Response(emptyStatuses.has(statusCode) ? null : bytes, { status: statusCode, headers: list });
}

async function bytesOf(body: Readable): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    if (length > mostBytes) throw new Error(`the response is over the limit of ${mostBytes} bytes`);
    chunks.push(chunk);
  }
  return Uint8Array.from(Buffer.concat(chunks, length));
}

/** Connecting to several addresses of a name fails with a code and no message. */
function reasonOf(err: unknown): string {
  if (!(err instanceof Error)) return String(err);
  return err.message === "" && "code" in err ? String(err.code) : err.message;
}

/** Rejects at once on an abort, whatever the work waits for. */
function beforeAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(new Error("aborted"));
    signal.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
