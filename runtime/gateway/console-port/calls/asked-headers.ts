import { tryHeader } from "../../../api/names.ts";
import { PlatformError } from "../../../api/platform-error.ts";
import type { HeaderList } from "../../../core/headers/header-list.ts";
import { clientHeaders } from "../../edge/client-headers.ts";

/**
 * The headers that a page wants a function to get, flat.
 * @throws PlatformError `validation_failed` unless they are pairs, each of which a client may send
 */
export function askedHeaders(text: string | undefined): HeaderList {
  if (text === undefined) return [];
  const pairs = parsePairs(text);
  if (pairs === undefined) {
    const expected = 'expected JSON pairs such as [["Accept","text/plain"]]';
    throw new PlatformError("validation_failed", `Cannot read header ${tryHeader.headers}: ${expected}`);
  }
  return clientHeaders(pairs.flat());
}

function parsePairs(text: string): readonly (readonly string[])[] | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return Array.isArray(value) && value.every(isPair) ? value : undefined;
}

function isPair(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length === 2 && value.every((each) => typeof each === "string");
}
