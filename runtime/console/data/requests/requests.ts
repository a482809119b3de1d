import { sendToGateway, failureOfReply, type GatewayAccess } from "./gateway-access.ts";

/** What is asked beside method and path. */
export interface PageRequest {
  /** Members without a value are left out. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as they are, instead of `body`. */
  readonly bytes?: Uint8Array<ArrayBuffer>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** For the sentence when there is no reply: `read the queues`. */
  readonly act?: string;
}

/** What requests need of the session. */
export interface RequestSession {
  /** The half that the page knows its session by. */
  half(): string | undefined;
  /** To be called at a 401; resolves once somebody has signed in again. */
  signedInAgain(signal: AbortSignal | undefined): Promise<void>;
}

export interface RequestsParts extends GatewayAccess {
  readonly session: RequestSession;
}

const someAct = "reach the gateway";

/** Sends requests to the gateway that the page came from. */
export class Requests {
  readonly #parts: RequestsParts;

  constructor(parts: RequestsParts) {
    this.#parts = parts;
  }

  /**
   * Reads JSON.
   * @throws RequestFailure, and DOMException `AbortError` when `signal` aborted
   */
  async get<Reply>(path: string, asked: PageRequest = {}): Promise<Reply> {
    const response = await this.open("GET", path, asked);
    return (await response.json()) as Reply;
  }

  /**
   * Sends a change. Not sent again by itself, but after a new sign-in: a 401 changed nothing.
   * @throws RequestFailure
   */
  async send(method: "POST" | "PUT" | "PATCH" | "DELETE", path: string, asked: PageRequest = {}): Promise<Response> {
    const response = await this.open(method, path, asked);
    // Nobody else reads small replies, and an unread one holds its connection.
    const text = await response.text();
    return new Response(text === "" ? null : text, response);
  }

  /**
   * The response of a request, once its head is there; its body may go on for ever.
   * @throws RequestFailure, and DOMException `AbortError` when `signal` aborted
   */
  async open(method: string, path: string, asked: PageRequest = {}): Promise<Response> {
    const { session } = this.#parts;
    for (;;) {
      const response = await this.#fetch(method, path, asked);
      if (response.ok) return response;
      const failure = await failureOfReply(this.#parts, response, asked.act ?? someAct);
      if (response.status !== 401) throw failure;
      await session.signedInAgain(asked.signal);
      asked.signal?.throwIfAborted();
    }
  }

  #fetch(method: string, path: string, asked: PageRequest): Promise<Response> {
    const { query = {}, body, bytes, headers, signal, act = someAct } = asked;
    const half = this.#parts.session.half();
    const request = { method, path: withQuery(path, query), half, body, bytes, headers, signal };
    return sendToGateway(this.#parts, request, act);
  }
}

/** A path with the members of `query` that have a value. */
export function withQuery(path: string, query: NonNullable<PageRequest["query"]>): string {
  const members = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  );
  return members.length === 0 ? path : `${path}?${new URLSearchParams(members).toString()}`;
}
