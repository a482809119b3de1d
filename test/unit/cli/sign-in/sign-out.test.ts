import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import type { GatewayCredentials } from "../../../../runtime/cli/client/gateway-credentials.ts";
import {
  storeCredentials,
  storedCredentials,
  whileNoOtherSignsIn,
} from "../../../../runtime/cli/gateways/stored-credentials.ts";
import { runCli } from "../../../../runtime/cli/run-cli.ts";
import { eventually } from "../../../support/eventually.ts";
import { freePort } from "../../../support/free-port.ts";
import { heardTerminal } from "../../../support/heard-terminal.ts";
import { openRefreshIssuer, type RefreshIssuer } from "../../../support/refresh-issuer.ts";
import { tempDirectory, type TempDirectory } from "../../../support/temp-directory.ts";

let home: TempDirectory;
let issuer: RefreshIssuer;
const file = (): string => join(home.path, ".config", "weir", "credentials.yaml");
/** Name of a file of a process that waits until no other signs in. */
const waiting = /\.sign-in\.lock\.[0-9a-f]{12}$/;
const [first, second] = ["https://a.example", "https://b.example"];

beforeEach(async () => {
  home = await tempDirectory("sign-out");
  issuer = await openRefreshIssuer();
});
afterEach(async () => {
  await issuer?.[Symbol.asyncDispose]();
  await home?.remove();
});

function signedIn(refreshToken?: string, at = issuer.url): GatewayCredentials {
  const signIn = { expiresAt: new Date(0).toISOString(), issuer: at, clientId: "weir-cli" };
  if (refreshToken === undefined) return { kind: "bearer", token: "t", signIn };
  issuer.good.add(refreshToken);
  return { kind: "bearer", token: "t", signIn: { ...signIn, refreshToken } };
}

async function logout(...args: readonly string[]) {
  const terminal = heardTerminal({ home: home.path, directory: home.path });
  return { code: await runCli(["logout", ...args], terminal), ...terminal.written };
}

const forms = (): unknown[] => issuer.revocations.map((form) => Object.fromEntries(form));

describe("weir logout", () => {
  test("revokes the refresh token at its issuer", async () => {
    await storeCredentials(file(), first, signedIn("r1"));
    expect(await logout(first)).toEqual({ code: 0, stdout: "", stderr: `Signed out of ${first}\n` });
    expect(await storedCredentials(file(), first)).toBeUndefined();
    expect(forms()).toEqual([{ client_id: "weir-cli", token: "r1", token_type_hint: "refresh_token" }]);
    expect([...issuer.good]).toEqual([]);
  });

  test("of all gateways revokes that of each", async () => {
    await storeCredentials(file(), first, signedIn("r1"));
    await storeCredentials(file(), second, signedIn("r2"));
    await storeCredentials(file(), "https://c.example", { kind: "basic", user: "admin", password: "p" });
    expect(await logout("--all", "--yes")).toMatchObject({
      code: 0,
      stderr: "The credentials of 3 gateways are removed\n",
    });
    expect(issuer.revocations.map((form) => form.get("token"))).toEqual(["r1", "r2"]);
    expect(await readFile(file(), "utf8")).toBe("{}\n");
  });

  test("waits for a renewal, and revokes what that left", async () => {
    await storeCredentials(file(), first, signedIn("r1"));
    const ended = await whileNoOtherSignsIn(file(), async () => {
      const begun = logout(first);
      await eventually(async () => (await readdir(dirname(file()))).some((name) => waiting.test(name)), {
        what: "a logout that waits",
      });
      await storeCredentials(file(), first, signedIn("r2"));
      return { begun };
    });
    expect((await ended.begun).code).toBe(0);
    expect(issuer.revocations.map((form) => form.get("token"))).toEqual(["r2"]);
    expect(await storedCredentials(file(), first)).toBeUndefined();
  });

  test.each<readonly [string, () => GatewayCredentials]>([
    ["an issuer that knows no revocation", () => signedIn("r1")],
    ["a sign-in without a refresh token", () => signedIn()],
    ["a password", () => ({ kind: "basic", user: "admin", password: "p" })],
    ["a token that was given", () => ({ kind: "bearer", token: "t" })],
  ])("with %s revokes nothing, and says nothing of it", async (_, credentials) => {
    issuer.revocationStatus = undefined;
    await storeCredentials(file(), first, credentials());
    expect(await logout(first)).toEqual({ code: 0, stdout: "", stderr: `Signed out of ${first}\n` });
    expect(forms()).toEqual([]);
  });
});

describe("a revocation that fails", () => {
  const rest = `; the refresh token of ${first} stays valid until the issuer ends it\n`;

  test("as the issuer refuses it is said, and one is signed out", async () => {
    issuer.revocationStatus = 401;
    await storeCredentials(file(), first, signedIn("r1"));
    expect(await logout(first, "-q")).toEqual({
      code: 0,
      stdout: "",
      stderr: `Cannot revoke the refresh token at ${issuer.url}: it replied invalid_client${rest}`,
    });
    expect(await storedCredentials(file(), first)).toBeUndefined();
  });

  test("as the issuer is away is said, with its address and no advice about gateways", async () => {
    const away = `http://127.0.0.1:${await freePort()}`;
    await storeCredentials(file(), first, signedIn("r1", away));
    expect(await logout(first)).toEqual({
      code: 0,
      stdout: "",
      stderr: `Signed out of ${first}\nCannot reach the issuer at ${away}: nothing listens there${rest}`,
    });
    expect(await storedCredentials(file(), first)).toBeUndefined();
  });
});
