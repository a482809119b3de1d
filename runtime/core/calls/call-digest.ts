import { createHash } from "node:crypto";

import { principalHeader } from "../../api/names.ts";
import { headerValue } from "../headers/header-list.ts";
import type { QueuedCall } from "./call.ts";

/**
 * Digest that tells whether a repeated id is the same call: SHA-256 over namespace, function, path, query, callback URL,
 * who sent it, if that is known, and body, each prefixed with its length, as base64url.
 */
export function callDigest(call: QueuedCall): string {
  const hash = createHash("sha256");
  const [subject, issuer] = [principalHeader.subject, principalHeader.issuer].map((name) =>
    headerValue(call.headers, name.toLowerCase()),
  );
  const parts = [
    call.function.namespace,
    call.function.name,
    call.path,
    call.query ?? "\u0000",
    call.callbackUrl ?? "",
    // The function is told who calls: the same request of somebody else is another call.
    ...(subject === undefined ? [] : [subject, issuer ?? ""]),
  ];
  const prefixed = parts.map((part) => `${Buffer.byteLength(part)}:${part}`);
  hash.update(`${prefixed.join("")}${call.body.byteLength}:`).update(call.body);
  return hash.digest("base64url");
}

/** Namespace of derived call ids (RFC 9562 §5.5); any constant UUID would do. */
const derivedNamespace = Buffer.from("8a1f5c0e6d0b4c55a7b0f1c6c3a9d2e4", "hex");

/** The id of a call whose own id is in use with another digest: UUID version 5 of both, so repeats get the same. */
export function derivedCallId(id: string, digest: string): string {
  return uuid5(`${id}\n${digest}`);
}

/** UUID version 5 (RFC 9562 §5.5) of `name`. */
export function uuid5(name: string): string {
  const bytes = createHash("sha1").update(derivedNamespace).update(name).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x50;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
