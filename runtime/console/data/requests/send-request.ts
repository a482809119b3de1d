import { sessionHeader } from "../../../api/names.ts";

/** A request as the page sends it. */
export interface SentRequest {
  readonly method: string;
  readonly path: string;
  /** The half that the page knows its session by. */
  readonly half: string | undefined;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as they are, instead of `body`. */
  readonly bytes?: Uint8Array<ArrayBuffer> | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
}

const json = "application/json";
const raw = "application/octet-stream";

/** Sends it to the gateway that the page came from. */
export function sendRequest(fetch: typeof globalThis.fetch, request: SentRequest): Promise<Response> {
  const { method, path, half, body, bytes, headers, signal } = request;
  const content = bytes ?? (body === undefined ? undefined : JSON.stringify(body));
  return fetch(path, {
    method,
    headers: {
      Accept: "application/json, */*;q=0.5",
      ...(half === undefined ? {} : { [sessionHeader]: half }),
      ...(content === undefined ? {} : { "Content-Type": bytes === undefined ? json : raw }),
      ...headers,
    },
    ...(content === undefined ? {} : { body: content }),
    ...(signal === undefined ? {} : { signal }),
    cache: "no-store",
    credentials: "same-origin",
    redirect: "error",
  });
}
