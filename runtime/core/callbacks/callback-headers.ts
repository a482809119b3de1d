import { header } from "../../api/names.ts";
import { release } from "../../api/version.ts";
import type { CallEntry } from "../calls/call-entry.ts";
import { withoutHeaders, type HeaderList } from "../headers/header-list.ts";

/** Depth at which a chain of callbacks stops. */
export const deepestCallback = 16;

const platform = new Set(
  [
    header.callId,
    header.durationSeconds,
    header.functionStatus,
    header.functionName,
    header.retry,
    header.retryMax,
    header.startTime,
    header.callDepth,
    header.resultTruncated,
    "user-agent",
    "host",
    "content-length",
    header.weirAuth,
    // Of a request only, and no client of ours sends it.
    "expect",
    // A callback carries neither cookies nor credentials, whoever wrote them.
    "authorization",
    "cookie",
    "set-cookie",
  ].map((name) => name.toLowerCase()),
);

/** Status a receiver sees when the function gave none. */
export function statusWithoutAnswer(entry: CallEntry): number {
  return entry.reason === "expired" ? 504 : 502;
}

/**
 * The headers of a call's callback (contract §4.3): those of the function's answer, overridden by the platform's.
 * `answer` holds no hop-by-hop headers.
 */
export function callbackHeaders(id: string, entry: CallEntry, depth: number, answer: HeaderList): string[] {
  const last = entry.attempts.at(-1);
  return [
    ...withoutHeaders(answer, platform),
    header.callId,
    id,
    header.durationSeconds,
    ((last?.duration ?? 0) / 1_000).toFixed(6),
    header.functionStatus,
    String(entry.status ?? statusWithoutAnswer(entry)),
    header.functionName,
    entry.function,
    "User-Agent",
    `queue-worker/${release}`,
    header.retry,
    String(entry.retries),
    header.retryMax,
    String(entry.maxRetries),
    header.startTime,
    entry.accepted,
    header.callDepth,
    String(depth + 1),
  ];
}
