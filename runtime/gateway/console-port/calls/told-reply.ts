import { tryHeader } from "../../../api/names.ts";
import type { HeaderList } from "../../../core/headers/header-list.ts";
import { consoleHeaders } from "../../auth/console-headers.ts";
import { rawType } from "./raw-body.ts";

/** What a function said, as pages of the console are told it. */
export interface ToldReply {
  readonly status: number;
  readonly headers: HeaderList;
  readonly truncated: boolean;
}

const policyHeader = "Content-Security-Policy";

/**
 * Headers of a response whose body is what a function said: no browser shows or runs it, and the function's own status
 * and headers are data.
 */
export function toldHeaders({ status, headers, truncated }: ToldReply): Readonly<Record<string, string>> {
  return {
    "Content-Type": rawType,
    "Content-Disposition": "attachment",
    [policyHeader]: `${consoleHeaders[policyHeader] ?? ""}; sandbox`,
    "Cache-Control": "no-store",
    [tryHeader.status]: String(status),
    [tryHeader.headers]: asciiJson(pairsOf(headers)),
    ...(truncated ? { [tryHeader.truncated]: "true" } : {}),
  };
}

function pairsOf(headers: HeaderList): readonly (readonly [string, string])[] {
  return Array.from({ length: Math.floor(headers.length / 2) }, (_, index) => [
    headers[2 * index] ?? "",
    headers[2 * index + 1] ?? "",
  ]);
}

/** JSON that fits into a header. */
function asciiJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(/[^\u0020-\u007E]/g, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `\\u${code.toString(16).padStart(4, "0")}`;
  });
}
