import { tryHeader } from "../../../../api/names.ts";
import { functionKeyOf, type FunctionOfPage } from "../../../data/functions/function-of-page.ts";
import { commandLine } from "../../../data/words/shell-word.ts";

/** A call that is tried. */
export interface TriedCall {
  readonly named: FunctionOfPage;
  readonly method: string;
  /** With its query, as in `/orders?page=2`. */
  readonly path: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
  /** Queued calls are POSTed. */
  readonly queued: boolean;
}

/** What a function said. */
export interface TriedReply {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array<ArrayBuffer>;
  /** Whether it went on. */
  readonly truncated: boolean;
}

export const tryMethods = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"] as const;

/** Where the page sends a call to. */
export function tryTarget({ named, path }: Pick<TriedCall, "named" | "path">): string {
  const rest = path === "" || path.startsWith("/") || path.startsWith("?") ? path : `/${path}`;
  return `/ui/try/${functionKeyOf(named)}${rest === "" ? "/" : rest}`;
}

/** What the gateway needs to know beside method and target. */
export function tryHeaders({
  headers,
  queued,
}: Pick<TriedCall, "headers" | "queued">): Readonly<Record<string, string>> {
  const given = headers.filter(([name]) => name !== "");
  return {
    [tryHeader.page]: "1",
    ...(queued ? { [tryHeader.queued]: "1" } : {}),
    ...(given.length === 0 ? {} : { [tryHeader.headers]: asciiJson(given) }),
  };
}

/** Reads what the function said. */
export async function readTriedReply(response: Response): Promise<TriedReply> {
  const { headers } = response;
  return {
    status: Number(headers.get(tryHeader.status) ?? response.status),
    headers: JSON.parse(headers.get(tryHeader.headers) ?? "[]") as TriedReply["headers"],
    body: new Uint8Array(await response.arrayBuffer()),
    truncated: headers.get(tryHeader.truncated) === "true",
  };
}

/** A header of a reply; names have no case. */
export function headerOf({ headers }: Pick<TriedReply, "headers">, name: string): string | undefined {
  return headers.find(([each]) => each.toLowerCase() === name.toLowerCase())?.[1];
}

/** The `curl` command that sends the same. */
export function curlLine({ named, method, path, headers, body, queued }: TriedCall, gateway: string): string {
  const sent = queued ? "POST" : method;
  const rest = path === "" || path.startsWith("/") || path.startsWith("?") ? path : `/${path}`;
  const usual = body === "" ? "GET" : "POST";
  return commandLine([
    "curl",
    "-i",
    ...(sent === "HEAD" ? ["--head"] : sent === usual ? [] : ["-X", sent]),
    ...headers.flatMap(([name, value]) => (name === "" ? [] : ["-H", `${name}: ${value}`])),
    // Else curl says that the body is a form.
    ...(body === "" || headers.some(([name]) => name.toLowerCase() === "content-type")
      ? []
      : ["-H", "Content-Type: text/plain"]),
    ...(body === "" ? [] : ["--data-binary", body]),
    `${gateway}/${queued ? "async-function" : "function"}/${functionKeyOf(named)}${rest}`,
  ]);
}

/** JSON that fits into a header. */
function asciiJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[^\u0020-\u007e]/g,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`,
  );
}
