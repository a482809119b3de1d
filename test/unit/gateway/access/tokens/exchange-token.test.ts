import { expect, test } from "vitest";

import type { IssuerDocuments } from "../../../../../runtime/core/ports/issuer-documents.ts";
import { jwtIssuer, policy, role, rulesOf } from "../../../../support/access-documents.ts";
import { openExchange } from "../../../../support/token-exchange.ts";
import { claimsOf, headerOf, signToken, tokenKey } from "../../../../support/token-keys.ts";

const iss = "https://idp.example";
const weir = "https://weir.example";
const seconds = 1_700_000_000;
const key = await tokenKey();
const subject = { iss, sub: "alice", aud: "weir", iat: seconds - 5, exp: seconds + 300 };
const documents: IssuerDocuments = {
  fetchFromIssuer: async (_issuer, url) =>
    Response.json(url.endsWith("/keys") ? { keys: [key.jwk] } : { issuer: iss, jwks_uri: `${iss}/keys` }),
};
const rules = rulesOf(
  jwtIssuer("idp", { iss, aud: ["other", "weir"], tokenExpiry: "20m" }),
  policy("deploy", ["Function:*"], ["dev:*"]),
  policy("call-env", ["Function:Invoke"], ["functions:env"]),
  policy("read", ["Function:List"], ["*"]),
  role("core", ["deploy", "read", "missing"], { condition: { StringEqual: { "jwt:team": "core" } } }),
  role("everyone", ["call-env"], { principal: { "jwt:iss": [iss] } }),
  role("lister", ["read"], { principal: { "jwt:sub": ["lister"] } }),
  role("tried", ["read"], { mode: "report" }),
);

async function open(now = { seconds }) {
  return openExchange(documents, rules, () => now.seconds * 1_000 + 900);
}

test("an API token names subject, issuer and the policies that roles give", async () => {
  await using weirExchange = await open();
  const token = await signToken(key, {
    ...subject,
    team: "core",
    groups: ["x"],
    nonce: "n",
    policy: ["admin"],
    jti: "theirs",
  });
  const reply = await weirExchange.exchange(token);
  expect(reply).toEqual({
    access_token: expect.any(String),
    issued_token_type: "urn:ietf:params:oauth:token-type:access_token",
    token_type: "Bearer",
    expires_in: 1_200,
  });
  const claims = claimsOf(reply.access_token);
  expect(claims).toEqual({
    iss: weir,
    aud: weir,
    sub: "fed:alice",
    "fed:iss": iss,
    "fed:aud": "weir",
    team: "core",
    groups: ["x"],
    nonce: "n",
    policy: ["call-env", "deploy", "read"],
    iat: seconds,
    exp: seconds + 1_200,
    jti: expect.any(String),
  });
  expect(claims["jti"]).not.toBe("theirs");
  expect(headerOf(reply.access_token)["typ"]).toBe("weir-api+jwt");
  const read = await weirExchange.keys.reader.read(reply.access_token);
  expect(read?.policies).toEqual(new Set(["call-env", "deploy", "read"]));
});

test("a function token names what it may call", async () => {
  await using weirExchange = await open();
  const token = await signToken(key, { ...subject, team: "core" });
  const reply = await weirExchange.exchange(token, { scope: "function" });
  expect(reply).toMatchObject({ scope: "function", expires_in: 1_200 });
  expect(claimsOf(reply.access_token)["function"]).toEqual({ permissions: ["dev:*", "functions:env"], audience: [] });
  expect(headerOf(reply.access_token)["typ"]).toBe("weir-function+jwt");
  expect(await weirExchange.keys.reader.read(reply.access_token)).toMatchObject({ kind: "function" });

  const narrow = await weirExchange.exchange(token, {
    scope: "function",
    audience: ["openfaas-fn:env", "dev:*", "functions:env"],
  });
  expect(claimsOf(narrow.access_token)["function"]).toEqual({
    permissions: ["dev:*", "functions:env"],
    audience: ["functions:env", "dev:*"],
  });
});

const target = "invalid_target";
test.each([
  ["dev:env:x", target, "audience 'dev:env:x' is neither namespace:function nor namespace:*"],
  ["*", target, "audience '*' is neither namespace:function nor namespace:*"],
  ["functions:env2", target, "no Policy allows its subject Function:Invoke on functions:env2"],
  ["openfaas-fn:other", target, "no Policy allows its subject Function:Invoke on functions:other"],
  ["prod:*", target, "no Policy allows its subject Function:Invoke on prod:*"],
])("audience %s is refused", async (audience, error, why) => {
  await using weirExchange = await open();
  const token = await signToken(key, { ...subject, team: "core" });
  await expect(
    weirExchange.exchange(token, { scope: "function", audience: ["functions:env", audience] }),
  ).rejects.toMatchObject({
    error,
    description: `Cannot exchange token: ${why}`,
    subject: expect.objectContaining({ sub: "fed:alice" }),
  });
});

test("without a policy there is no token", async () => {
  await using weirExchange = await open();
  weirExchange.rules = rulesOf(
    jwtIssuer("idp", { iss, aud: ["weir"] }),
    policy("read", ["Function:List"], ["*"]),
    role("tried", ["read"], { mode: "report" }),
    role("empty", ["missing"]),
    role("lister", ["read"], { principal: { "jwt:sub": ["lister"] } }),
  );
  await expect(weirExchange.exchange(await signToken(key, subject))).rejects.toMatchObject({
    error: "invalid_request",
    message: "Cannot exchange token: no Role gives its subject a Policy",
  });
  const lister = await signToken(key, { ...subject, sub: "lister" });
  await expect(weirExchange.exchange(lister, { scope: "function" })).rejects.toMatchObject({
    error: "invalid_request",
    message: "Cannot exchange token: no Policy allows its subject Function:Invoke",
  });
  expect((await weirExchange.exchange(lister)).expires_in).toBe(1_800);
});

test("an API token gives a function token that ends no later, and no more rights", async () => {
  const now = { seconds };
  await using weirExchange = await open(now);
  const { access_token: api } = await weirExchange.exchange(await signToken(key, subject));
  now.seconds += 900;
  const reply = await weirExchange.exchange(api, { scope: "function", audience: "functions:env" });
  expect(reply.expires_in).toBe(300);
  const claims = claimsOf(reply.access_token);
  expect(claims).toMatchObject({ sub: "fed:alice", "fed:iss": iss, "fed:aud": "weir", exp: seconds + 1_200 });
  expect(claims["policy"]).toEqual(["call-env"]);
  expect(claims["jti"]).not.toBe(claimsOf(api)["jti"]);

  // A policy that a role gives since then needs a new API token.
  weirExchange.rules = rulesOf(
    jwtIssuer("idp", { iss, aud: ["weir"], tokenExpiry: "1m" }),
    policy("call-env", ["Function:Invoke"], ["functions:env"]),
    policy("deploy", ["Function:*"], ["dev:*"]),
    role("all", ["deploy", "call-env"]),
  );
  const second = await weirExchange.exchange(api, { scope: "function" });
  expect(second.expires_in).toBe(60);
  expect(claimsOf(second.access_token)["function"]).toEqual({ permissions: ["functions:env"], audience: [] });
});

test("an own token is refused as a subject for anything else", async () => {
  const now = { seconds };
  await using weirExchange = await open(now);
  const { access_token: api } = await weirExchange.exchange(await signToken(key, subject));
  const { access_token: called } = await weirExchange.exchange(await signToken(key, subject), { scope: "function" });
  const refusal = (why: string) => ({ error: "invalid_request", message: `Cannot exchange token: ${why}` });
  await expect(weirExchange.exchange(api)).rejects.toMatchObject(
    refusal("an API token can be exchanged with scope function only"),
  );
  const isFunction = refusal("subject_token is not valid: it is a function token");
  await expect(weirExchange.exchange(called)).rejects.toMatchObject(isFunction);
  await expect(weirExchange.exchange(called, { scope: "function" })).rejects.toMatchObject(isFunction);
  const forged = await signToken(key, claimsOf(api), { typ: "weir-api+jwt" });
  await expect(weirExchange.exchange(forged, { scope: "function" })).rejects.toMatchObject(
    refusal("subject_token is not valid: it is no valid token of this platform"),
  );
  now.seconds += 1_200;
  await expect(weirExchange.exchange(api, { scope: "function" })).rejects.toMatchObject(
    refusal("subject_token is not valid: it has expired"),
  );
  now.seconds -= 600;
  weirExchange.rules = rulesOf();
  await expect(weirExchange.exchange(api, { scope: "function" })).rejects.toMatchObject(
    refusal("subject_token is not valid: its fed:iss is not trusted any more"),
  );
});

test("an issuer with the platform's own iss is not asked", async () => {
  await using weirExchange = await open();
  weirExchange.rules = rulesOf(
    jwtIssuer("self", { iss: weir, aud: [weir, "weir"] }),
    policy("all", ["*"], ["*"]),
    role("all", ["all"]),
  );
  await expect(weirExchange.exchange(await signToken(key, { ...subject, iss: weir }))).rejects.toMatchObject({
    message: "Cannot exchange token: subject_token is not valid: it is no valid token of this platform",
  });
});

test("a lifetime is at most a day, and a token no longer than a head can hold", async () => {
  await using weirExchange = await open();
  weirExchange.rules = rulesOf(
    jwtIssuer("idp", { iss, aud: ["weir"], tokenExpiry: "48h" }),
    policy("read", ["Function:List"], ["*"]),
    role("all", ["read"]),
  );
  const reply = await weirExchange.exchange(await signToken(key, subject));
  expect(reply.expires_in).toBe(86_400);
  expect(await weirExchange.keys.reader.read(reply.access_token)).toBeDefined();
  await expect(
    weirExchange.exchange(await signToken(key, { ...subject, groups: "x".repeat(9_000) })),
  ).rejects.toMatchObject({
    message: "Cannot exchange token: with all claims and policies it would be longer than 12288 characters",
  });
});

test("a subject that its JwtIssuer denies gets no token, and those that it has count no more", async () => {
  const known = rulesOf(
    jwtIssuer("idp", { iss, aud: ["weir"] }),
    policy("read", ["Function:List"], ["*"]),
    role("everyone", ["read"], { principal: { "jwt:iss": [iss] } }),
  );
  const denying = {
    ...known,
    issuers: new Map([...known.issuers].map(([at, one]) => [at, { ...one, denied: ["alice"] }])),
  };
  await using weirExchange = await openExchange(documents, known, () => seconds * 1_000 + 900);
  const { access_token: own } = await weirExchange.exchange(await signToken(key, subject));
  weirExchange.rules = denying;
  await expect(weirExchange.exchange(await signToken(key, subject))).rejects.toMatchObject({
    description: expect.stringContaining("denies its subject"),
  });
  await expect(weirExchange.exchange(own, { scope: "function" })).rejects.toMatchObject({
    description: expect.stringContaining("denies its subject"),
  });
  expect(await weirExchange.exchange(await signToken(key, { ...subject, sub: "bob" }))).toHaveProperty("access_token");
});
