import { expect, test } from "vitest";

import {
  authorizationOf,
  isEnding,
  isSignedIn,
  type GatewayCredentials,
} from "../../../../runtime/cli/client/gateway-credentials.ts";
import { GatewayClient } from "../../../../runtime/cli/client/gateway-client.ts";
import { openDispatcher } from "../../../../runtime/cli/client/dispatcher.ts";
import { openScriptedGateway, replyWith } from "../../../support/scripted-gateway.ts";

const now = Date.parse("2026-01-31T12:00:00Z");
const signedIn = (token: string, expiresAt: number): GatewayCredentials => ({
  kind: "bearer",
  token,
  signIn: { expiresAt: new Date(expiresAt).toISOString(), issuer: "https://issuer.example", clientId: "weir" },
});

test("only the token of a sign-in ends, and half a minute before its time", () => {
  for (const given of [undefined, { kind: "bearer", token: "a" }, { kind: "basic", user: "a", password: "b" }] as const)
    expect([isSignedIn(given), isEnding(given, now)]).toEqual([false, false]);
  expect(isEnding(signedIn("a", now + 30_001), now)).toBe(false);
  expect(isEnding(signedIn("a", now + 30_000), now)).toBe(true);
  expect(authorizationOf(signedIn("a", now))).toBe("Bearer a");
});

test("a client gets another token once, when the one it has ends, and not for requests without one", async () => {
  await using gateway = await openScriptedGateway((response) => replyWith(response, 200, {}));
  const dispatcher = await openDispatcher(gateway.url, {}, 10_000);
  let renewals = 0;
  const client = new GatewayClient({
    address: gateway.url,
    credentials: signedIn("old", Date.now()),
    renew: async () => {
      renewals += 1;
      return signedIn("new", Date.now() + 3_600_000);
    },
    dispatcher,
    timeout: 10_000,
    signal: new AbortController().signal,
    debug: undefined,
  });
  await client.json("GET", "/open", { authorized: false });
  expect(renewals).toBe(0);
  await Promise.all([client.json("GET", "/a"), client.json("GET", "/b")]);
  await client.json("GET", "/c");
  await dispatcher.destroy();
  expect(renewals).toBe(1);
  expect(gateway.requests.map(({ headers }) => headers.authorization)).toEqual([
    undefined,
    "Bearer new",
    "Bearer new",
    "Bearer new",
  ]);
});
