import type { ErrorCode } from "../../api/platform-error.ts";
import { statusOf } from "../error-handler.ts";
import type { RouteEntry } from "../rest/route.ts";

/** Errors of any request. */
const always: readonly ErrorCode[] = [
  "malformed_request",
  "request_timeout",
  "target_too_long",
  "expectation_failed",
  "headers_too_large",
  "internal_error",
];

/** Errors of any request that needs the administrator. */
const guarded: readonly ErrorCode[] = [
  "credentials_required",
  "credentials_invalid",
  "forbidden",
  "cross_origin",
  "too_many_logins",
];

/** Further errors of any request to `/system/` (contract §1.7). */
const system: readonly ErrorCode[] = [
  "validation_failed",
  "method_not_allowed",
  "payload_too_large",
  "unsupported_media_type",
  "queue_unavailable",
  "provider_unavailable",
];

/** Errors of a path that exists only for some values, or only in some editions. */
const noRoute: readonly ErrorCode[] = ["route_not_found"];

/** Errors that the API page lists once instead of with each route. */
export const usualErrors: ReadonlySet<ErrorCode> = new Set([...always, ...guarded, ...system]);

/** Every error of a route by status, in the order of the statuses. */
export function errorsOf(entry: RouteEntry): ReadonlyMap<number, readonly ErrorCode[]> {
  const codes = new Set<ErrorCode>([
    ...always,
    ...(entry.needs === "nothing" ? [] : guarded),
    ...(entry.path.startsWith("/system/") ? system : []),
    ...(entry.iamOnly === true || (entry.params !== undefined && entry.handling !== "elsewhere") ? noRoute : []),
    ...(entry.errors ?? []),
  ]);
  const byStatus = Map.groupBy(codes, statusOf);
  return new Map([...byStatus].toSorted(([one], [other]) => one - other));
}
