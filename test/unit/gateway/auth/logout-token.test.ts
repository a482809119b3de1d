import { expect, test } from "vitest";

import { IssuerUnavailableError } from "../../../../runtime/core/ports/issuer-documents.ts";
import type { TokenParts } from "../../../../runtime/gateway/access/tokens/token-parts.ts";
import { endsBy, readLogoutToken } from "../../../../runtime/gateway/auth/login/logout-token.ts";
import { TrustedKeys } from "../../../../runtime/gateway/access/tokens/trusted-keys.ts";
import { createLog } from "../../../../runtime/process/log.ts";
import { jwtIssuer, rulesOf } from "../../../support/access-documents.ts";
import { flipBit, signToken, tokenKey } from "../../../support/token-keys.ts";

const iss = "https://idp.example";
const seconds = 1_700_000_000;
const key = await tokenKey();
const event = { "http://schemas.openid.net/event/backchannel-logout": {} };
const claims = { iss, aud: "weir", sub: "alice", sid: "s1", iat: seconds, exp: seconds + 120, jti: "1", events: event };
const rules = rulesOf(
  jwtIssuer("idp", { iss, aud: ["weir", "other"], login: { clientId: "weir" } }),
  jwtIssuer("programs", { iss: "https://ci.example", aud: ["weir"] }),
);
let isAway = false;
const documents = {
  fetchFromIssuer: async (_issuer: unknown, url: string) => {
    if (isAway) throw new IssuerUnavailableError("away");
    return Response.json(url.endsWith("/keys") ? { keys: [key.jwk] } : { issuer: iss, jwks_uri: `${iss}/keys` });
  },
};
const partsNow = (now = seconds): Pick<TokenParts, "rules" | "issuers" | "now"> => ({
  rules: () => rules,
  issuers: new TrustedKeys({ documents, rules: () => rules, log: createLog("test", "silent") }),
  now: () => now * 1_000,
});
const read = async (over: Readonly<Record<string, unknown>>, header: Readonly<Record<string, unknown>> = {}) =>
  readLogoutToken(await signToken(key, { ...claims, ...over }, header), partsNow());

test.each<[over: Record<string, unknown>, header?: Record<string, unknown>]>([
  [{}],
  [{}, { typ: "logout+jwt" }],
  [{}, { typ: "JWT" }],
  [{ aud: ["x", "weir"] }],
  [{ exp: undefined }],
])("a logout token with %j %j is taken", async (over, header) => {
  expect(await read(over, header)).toEqual({ issuer: iss, subject: "alice", sid: "s1", issuedAt: seconds * 1_000 });
});

test.each<[over: Record<string, unknown>, header?: Record<string, unknown>]>([
  [{ iss: "https://evil.example" }],
  [{ iss: "https://ci.example" }],
  [{ aud: "other" }],
  [{ iat: undefined }],
  [{ iat: seconds - 331 }],
  [{ iat: seconds + 31 }],
  [{ exp: seconds - 31 }],
  [{ jti: undefined }],
  [{ events: undefined }],
  [{ events: {} }],
  [{ events: "http://schemas.openid.net/event/backchannel-logout" }],
  [{ nonce: "n" }],
  [{ sub: undefined, sid: undefined }],
  [{ sub: 7 }],
  [{ sid: ["s1"] }],
  [{}, { typ: "at+jwt" }],
  [{}, { kid: "unknown" }],
])("one with %j %j is refused", async (over, header) => {
  await expect(read(over, header)).rejects.toMatchObject({ code: "validation_failed" });
});

test("one that was changed is refused, and keys that cannot be read are said", async () => {
  const token = await signToken(key, claims);
  for (const part of [1, 2] as const)
    await expect(readLogoutToken(flipBit(token, part), partsNow())).rejects.toMatchObject({
      code: "validation_failed",
    });
  await expect(readLogoutToken("x", partsNow())).rejects.toMatchObject({ code: "validation_failed" });
  isAway = true;
  await expect(readLogoutToken(token, partsNow())).rejects.toMatchObject({ code: "provider_unavailable" });
});

test("it ends the sessions of its sid, else of its subject, and none that was opened since", () => {
  const session = {
    via: "issuer",
    subject: "alice",
    issuer: iss,
    claims: { sub: "alice", sid: "s1" },
    publicHalf: "",
    expiresAt: 0,
    openedAt: seconds * 1_000,
  } as const;
  const order = { issuer: iss, subject: "alice", sid: "s1", issuedAt: seconds * 1_000 };
  expect(endsBy(session, order)).toBe(true);
  expect(endsBy(session, { ...order, sid: undefined })).toBe(true);
  expect(endsBy(session, { ...order, subject: undefined })).toBe(true);
  expect(endsBy(session, { ...order, sid: "s2" })).toBe(false);
  expect(endsBy(session, { ...order, subject: "bob" })).toBe(false);
  expect(endsBy(session, { ...order, issuer: "https://other.example" })).toBe(false);
  expect(endsBy({ ...session, openedAt: (seconds + 31) * 1_000 }, order)).toBe(false);
});
