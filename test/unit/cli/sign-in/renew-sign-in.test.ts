import { join } from "node:path";

import { afterEach, beforeEach, expect, test } from "vitest";

import { isSignedIn, type SignedIn } from "../../../../runtime/cli/client/gateway-credentials.ts";
import { storeCredentials, storedCredentials } from "../../../../runtime/cli/gateways/stored-credentials.ts";
import { renewSignIn } from "../../../../runtime/cli/sign-in/renew-sign-in.ts";
import { gatewayClientOf } from "../../../support/gateway-client-of.ts";
import { openRefreshIssuer, type RefreshIssuer } from "../../../support/refresh-issuer.ts";
import { openScriptedGateway, replyWith, type ScriptedGateway } from "../../../support/scripted-gateway.ts";
import { tempDirectory, type TempDirectory } from "../../../support/temp-directory.ts";

let home: TempDirectory;
let issuer: RefreshIssuer;
let gateway: ScriptedGateway;
/** Status of the gateway's exchange. */
let status: number;
const file = (): string => join(home.path, "credentials.yaml");

beforeEach(async () => {
  status = 200;
  home = await tempDirectory("renew-sign-in");
  issuer = await openRefreshIssuer();
  gateway = await openScriptedGateway((response, _request, number) =>
    replyWith(response, status, status === 200 ? { access_token: `token-${number}`, expires_in: 1_800 } : {}),
  );
});
afterEach(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await issuer?.[Symbol.asyncDispose]();
  await home?.remove();
});

/** Stores a sign-in whose token has ended, with a refresh token or without one. */
async function signedIn(renewable = true): Promise<void> {
  const signIn = { expiresAt: new Date(0).toISOString(), issuer: issuer.url, clientId: "weir-cli" };
  const refreshToken = "refresh-token-0";
  if (renewable) issuer.good.add(refreshToken);
  const whole = renewable ? { ...signIn, refreshToken } : signIn;
  await storeCredentials(file(), gateway.url, { kind: "bearer", token: "ended", signIn: whole });
}

async function stored(): Promise<SignedIn> {
  const found = await storedCredentials(file(), gateway.url);
  if (!isSignedIn(found)) throw new Error("no sign-in is stored");
  return found;
}

async function renewed(): Promise<SignedIn> {
  await using to = await gatewayClientOf(gateway.url);
  const access = { tls: {}, signal: new AbortController().signal, debug: undefined };
  return await renewSignIn({ file: file(), uid: process.getuid?.(), gateway: to.client, access });
}

test("a token that has ended is replaced, and its refresh token by the next one", async () => {
  await signedIn();
  const found = await renewed();
  expect(found).toMatchObject({ token: "token-1", signIn: { refreshToken: "refresh-token-1" } });
  expect(await stored()).toEqual(found);
});

test("renewals at the same time spend one refresh token", async () => {
  await signedIn();
  const found = await Promise.all([renewed(), renewed(), renewed()]);
  expect(found.map(({ token }) => token)).toEqual(["token-1", "token-1", "token-1"]);
  expect([...issuer.good]).toEqual(["refresh-token-1"]);
});

test("a rotated refresh token is kept when the exchange fails, and is good for the next attempt", async () => {
  await signedIn();
  status = 503;
  await expect(renewed()).rejects.toMatchObject({
    exit: 5,
    message: `Cannot sign in to ${gateway.url}: it replied 503`,
  });
  expect(await stored()).toMatchObject({ token: "ended", signIn: { refreshToken: "refresh-token-1" } });
  status = 200;
  expect(await renewed()).toMatchObject({ token: "token-2", signIn: { refreshToken: "refresh-token-2" } });
});

test.each<readonly [string, () => Promise<unknown>]>([
  ["a refresh token that is not good any more", () => signedIn().then(() => issuer.good.clear())],
  ["no refresh token", () => signedIn(false)],
  ["nothing stored", async () => {}],
])("with %s one has to sign in again", async (_, prepare) => {
  await prepare();
  await expect(renewed()).rejects.toMatchObject({
    exit: 4,
    message: `Cannot use the sign-in to ${gateway.url}: it has ended`,
    hint: `weir login ${gateway.url} --sso`,
  });
});
