import type { ServerResponse } from "node:http";

import { describe, expect, test } from "vitest";

import { exchangeGrant, subjectTokenTypes } from "../../../../runtime/api/schemas/iam/token.ts";
import { exchangeForGateway } from "../../../../runtime/cli/sign-in/exchange-for-gateway.ts";
import { gatewayClientOf } from "../../../support/gateway-client-of.ts";
import { openScriptedGateway, replyWith } from "../../../support/scripted-gateway.ts";

const signIn = { issuer: "https://issuer.example", clientId: "weir-cli" };
const tokens = { idToken: "a.b.c", refreshToken: "r" };

/** Exchanges at a gateway that replies so, with a client that waits for half a second. */
async function exchanged(reply: (response: ServerResponse) => void) {
  await using gateway = await openScriptedGateway(reply);
  await using to = await gatewayClientOf(gateway.url, 500);
  const result = await exchangeForGateway(to.client, signIn, tokens).catch((err: unknown) => err);
  return { result, requests: gateway.requests, url: gateway.url };
}

test("the form is that of the exchange, without credentials, and what comes back is a sign-in", async () => {
  const before = Date.now();
  const { result, requests } = await exchanged((response) =>
    replyWith(response, 200, { access_token: "t", expires_in: 1_800 }),
  );
  expect(result).toMatchObject({ kind: "bearer", token: "t", signIn: { ...signIn, refreshToken: "r" } });
  const { expiresAt } = (result as { readonly signIn: { readonly expiresAt: string } }).signIn;
  expect(Date.parse(expiresAt) - before).toBeGreaterThanOrEqual(1_800_000);
  expect(requests).toMatchObject([{ method: "POST", target: "/oauth/token" }]);
  expect(requests[0]?.headers.authorization).toBeUndefined();
  expect(Object.fromEntries(new URLSearchParams(requests[0]?.body))).toEqual({
    grant_type: exchangeGrant,
    subject_token: "a.b.c",
    subject_token_type: subjectTokenTypes[0],
  });
});

describe("a reply", () => {
  test("that stops in the middle is not waited for: exit code 6", async () => {
    const { result, url } = await exchanged((response) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": "99" }).write("{");
    });
    expect(result).toMatchObject({ exit: 6, message: `Cannot read the reply of ${url}: its rest does not come` });
  });

  test("that is too long is not read: exit code 1", async () => {
    const { result, url } = await exchanged((response) => replyWith(response, 200, " ".repeat(70_000)));
    expect(result).toMatchObject({ exit: 1, message: `Cannot read the reply of ${url}: it is over 65536 bytes` });
  });

  test.each<readonly [string, number, unknown, number, string]>([
    ["a reason", 400, { error: "invalid_request", error_description: "no Role" }, 4, "no Role"],
    ["a problem", 429, { code: "too_many", detail: "Cannot try again" }, 5, "Cannot try again"],
    ["something else", 502, "<html>", 1, "it replied 502"],
    ["no token", 200, { token: "t" }, 1, "its reply has no access_token with expires_in"],
    ["a time that is none", 200, { access_token: "t", expires_in: 1e300 }, 1, "its reply has no access_token with"],
    ["control characters", 400, { error_description: "a\u001B[2J\nb" }, 4, String.raw`a\u001b[2J\nb`],
  ])("with %s is said in a sentence", async (_, status, body, exit, reason) => {
    const { result, url } = await exchanged((response) => replyWith(response, status, body));
    expect(result).toMatchObject({
      exit,
      message: expect.stringContaining(`Cannot sign in to ${url}: ${reason}`) as string,
    });
  });
});
