import { afterAll, beforeAll, expect, test } from "vitest";

import { HttpIssuerDocuments } from "../../runtime/adapters/http/issuers/http-issuer-documents.ts";
import { TokenHolders } from "../../runtime/gateway/access/token-holders.ts";
import { jwtIssuer, policy, role, rulesOf } from "../support/access-documents.ts";
import { openIdentityProvider, providerAudience, type IdentityProvider } from "../support/identity-provider.ts";
import { exchangeFields, openExchange, type TestExchange } from "../support/token-exchange.ts";
import { claimsOf, headerOf } from "../support/token-keys.ts";
import { openRestPlatform, type RestPlatform } from "../support/rest-platform.ts";

/** Tokens of a certified OpenID provider, as they come: exchanged, and used. */
let provider: IdentityProvider;
let tokens: TestExchange;
let platform: RestPlatform;

beforeAll(async () => {
  provider = await openIdentityProvider({ alice: ["staff", "deployers"], bob: ["staff"], eve: [] });
  const rules = rulesOf(
    jwtIssuer("provider", { iss: provider.url, aud: [providerAudience.people, providerAudience.programs] }),
    policy("read", ["Function:List", "Function:Get"], ["*"]),
    policy("deploy", ["Function:*"], ["dev:*"]),
    role("staff", ["read"], { condition: { "ForAnyValue:StringEqual": { "jwt:groups": ["staff"] } } }),
    role("deployers", ["deploy"], { condition: { "ForAnyValue:StringEqual": { "jwt:groups": ["deployers"] } } }),
    role("robots", ["read"], { principal: { "jwt:sub": ["robot"], "jwt:aud": [providerAudience.programs] } }),
  );
  tokens = await openExchange(new HttpIssuerDocuments({ closedPorts: [] }), rules);
  const { keys, issuers } = tokens;
  platform = await openRestPlatform({
    edition: "enterprise",
    tokens: {
      rules: () => tokens.rules,
      keys,
      holders: new TokenHolders(keys.reader, () => tokens.rules),
      issuers,
      now: Date.now,
    },
  });
  expect(await platform.statusOf("POST", "/system/namespaces", { name: "dev" })).toBe(201);
});
afterAll(async () => {
  await platform?.[Symbol.asyncDispose]();
  await tokens?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
});

async function exchange(subjectToken: string, kind: "id_token" | "jwt" = "id_token") {
  const form = {
    ...exchangeFields,
    subject_token: subjectToken,
    subject_token_type: `urn:ietf:params:oauth:token-type:${kind}`,
  };
  const response = await fetch(`${platform.url}/oauth/token`, { method: "POST", body: new URLSearchParams(form) });
  return { status: response.status, body: (await response.json()) as Readonly<Record<string, string>> };
}
async function statuses(token: string): Promise<number[]> {
  const authorization = `Bearer ${token}`;
  const deployment = { service: "hello", image: "acme/hello:1", namespace: "dev" };
  return [
    await platform.statusOf("GET", "/system/functions?namespace=dev", undefined, { authorization }),
    await platform.statusOf("PUT", "/system/functions", deployment, { authorization }),
    await platform.statusOf("PUT", "/system/functions", { ...deployment, namespace: "functions" }, { authorization }),
  ];
}

test("a person's id token gives the rights of the person's groups", async () => {
  const idToken = await provider.idToken("alice");
  expect(claimsOf(idToken)).toMatchObject({ iss: provider.url, aud: "weir", sub: "alice" });
  const alice = await exchange(idToken);
  expect(alice).toMatchObject({ status: 200, body: { token_type: "Bearer" } });
  const token = alice.body["access_token"] ?? "";
  expect(claimsOf(token)).toMatchObject({
    sub: "fed:alice",
    "fed:iss": provider.url,
    "fed:aud": "weir",
    groups: ["staff", "deployers"],
    policy: ["deploy", "read"],
  });
  expect(await statuses(token)).toEqual([200, 202, 403]);

  const bob = await exchange(await provider.idToken("bob"));
  expect(await statuses(bob.body["access_token"] ?? "")).toEqual([200, 403, 403]);
});

test("a person without a role gets no token", async () => {
  expect(await exchange(await provider.idToken("eve"))).toEqual({
    status: 400,
    body: {
      error: "invalid_request",
      error_description: "Cannot exchange token: no Role gives its subject a Policy",
    },
  });
});

test("a program's access token is exchanged as it is, and the provider's tokens are none of the platform's", async () => {
  const accessToken = await provider.accessToken();
  expect(headerOf(accessToken)["typ"]).toBe("at+jwt");
  const { status, body } = await exchange(accessToken, "jwt");
  expect(status).toBe(200);
  expect(await statuses(body["access_token"] ?? "")).toEqual([200, 403, 403]);
  expect(await statuses(accessToken)).toEqual([401, 401, 401]);
  expect(await statuses(await provider.idToken("alice"))).toEqual([401, 401, 401]);
});
