import { expect, test } from "vitest";

import { parseCallEntry } from "../../../../runtime/core/calls/call-entry.ts";
import { callPrincipal } from "../../../../runtime/core/calls/call-principal.ts";
import type { Principal } from "../../../../runtime/core/access/principal.ts";
import { principalHeaders } from "../../../../runtime/gateway/access/principal-headers.ts";
import { sampleCall, sampleEntry } from "../../../contract/samples.ts";

const issuer = "https://issuer.example";
const sender = (subject: string, from: string | undefined): Principal => ({
  via: "token",
  subject,
  issuer: from,
  claims: { email: "a@example.com" },
  grants: "everything",
  expiresAt: undefined,
});

test.each([
  ["fed:alice", issuer],
  ["admin", undefined],
  ["fed:Zoë 100% \u{1f600}", `${issuer}/a b?c=%20`],
])("%s is read as the gateway wrote it", (subject, from) => {
  const headers = principalHeaders(sender(subject, from), ["email"], { name: "pay", namespace: "dev" });
  expect(callPrincipal(["Content-Type", "text/plain", ...headers])).toEqual(
    from === undefined ? { subject } : { subject, issuer: from },
  );
});

test("no subject, no principal", () => {
  expect(callPrincipal([])).toBeUndefined();
  expect(callPrincipal(["X-Auth-Issuer", issuer, "X-Auth-Claims", "e30"])).toBeUndefined();
});

test("what no gateway wrote is kept as it is", () => {
  expect(callPrincipal(["X-Auth-Subject", "100%"])).toEqual({ subject: "100%" });
});

test("long names are cut to 256 bytes", () => {
  const { subject = "", issuer: from = "" } =
    callPrincipal(["X-Auth-Subject", "s".repeat(3_000), "X-Auth-Issuer", "i".repeat(256)]) ?? {};
  expect(Buffer.byteLength(subject)).toBe(256);
  expect(subject.endsWith("…")).toBe(true);
  expect(from).toBe("i".repeat(256));
});

test("the record of a new call keeps it, and one without it is read as before", () => {
  const call = sampleCall({ headers: ["X-Auth-Subject", "fed:alice", "X-Auth-Issuer", issuer] });
  const entry = sampleEntry({}, call);
  expect(entry.principal).toEqual({ subject: "fed:alice", issuer });
  expect(parseCallEntry(JSON.stringify(entry))).toEqual(entry);
  const without = sampleEntry();
  expect(without).not.toHaveProperty("principal");
  expect(parseCallEntry(JSON.stringify(without))).toEqual(without);
});
