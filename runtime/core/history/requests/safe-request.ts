import { header, isProxyHeader, principalHeader } from "../../../api/names.ts";
import type { QueuedCall } from "../../calls/call.ts";
import { withoutHeaders } from "../../headers/header-list.ts";
import { isSecretHeader } from "../../headers/redacted-headers.ts";
import type { SafeRequest } from "../../ports/kept-requests.ts";

const identities = new Set(Object.values(principalHeader).map((name) => name.toLowerCase()));
/** The address that a function was called by. */
const ownAddress = new Set([header.forwardedHost, header.forwardedProto].map((name) => name.toLowerCase()));

/** Of the one request alone: who sent it, and from where. A replay has its own. */
const isOfSender = (lowerName: string): boolean =>
  identities.has(lowerName) || (isProxyHeader(lowerName) && !ownAddress.has(lowerName));

/** A call's request without who sent it, and without headers that may hold credentials. */
export function safeRequest(call: QueuedCall): SafeRequest {
  const names = call.headers.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
  const redacted = [...new Set(names.filter(isSecretHeader))];
  return {
    call: { ...call, headers: withoutHeaders(call.headers, new Set([...redacted, ...names.filter(isOfSender)])) },
    redacted,
  };
}
