import { header, principalHeader } from "../../api/names.ts";
import { release } from "../../api/version.ts";
import type { CallEntry } from "../calls/call-entry.ts";
import { withoutHeaders, type HeaderList } from "../headers/header-list.ts";

/** Depth at which a chain of callbacks stops. */
export const deepestCallback = 16;

/** Headers of a function's response that no callback carries, in addition to those that the platform sets. */
const withheld = [
  header.resultTruncated,
  "host",
  "content-length",
  header.weirAuth,
  // Who called the function is for the function alone.
  ...Object.values(principalHeader),
  // For requests only, and our clients never send it.
  "expect",
  // A callback carries neither cookies nor credentials, whatever their origin.
  "authorization",
  "cookie",
  "set-cookie",
];

/** Headers that the platform sets in the callback of a call. */
function platformHeaders(id: string, entry: CallEntry, depth: number): Readonly<Record<string, string>> {
  return {
    [header.callId]: id,
    [header.durationSeconds]: ((entry.attempts.at(-1)?.duration ?? 0) / 1_000).toFixed(6),
    [header.functionStatus]: String(entry.status ?? statusWithoutResponse(entry)),
    [header.functionName]: entry.function,
    "User-Agent": `queue-worker/${release}`,
    [header.retry]: String(entry.retries),
    [header.retryMax]: String(entry.maxRetries),
    [header.startTime]: entry.accepted,
    [header.callDepth]: String(depth + 1),
  };
}

/** Status that a receiver sees when the function sent none. */
export function statusWithoutResponse(entry: CallEntry): number {
  return entry.reason === "expired" ? 504 : 502;
}

/**
 * The headers of a call's callback (contract §4.3): those of the function's response, overridden by the platform's.
 * `response` holds no hop-by-hop headers.
 */
export function callbackHeaders(id: string, entry: CallEntry, depth: number, response: HeaderList): string[] {
  const platform = platformHeaders(id, entry, depth);
  const names = new Set([...Object.keys(platform), ...withheld].map((name) => name.toLowerCase()));
  return [...withoutHeaders(response, names), ...Object.entries(platform).flat()];
}
