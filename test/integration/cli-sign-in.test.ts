import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";

import { request as send } from "undici";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";

import { HttpIssuerDocuments } from "../../runtime/adapters/http/issuers/http-issuer-documents.ts";
import type { SignInIssuer } from "../../runtime/api/schemas/iam/sign-in.ts";
import { isSignedIn, type SignedIn } from "../../runtime/cli/client/gateway-credentials.ts";
import { storeCredentials, storedCredentials } from "../../runtime/cli/gateways/stored-credentials.ts";
import { runCli } from "../../runtime/cli/run-cli.ts";
import type { RuleSet } from "../../runtime/core/access/rule-set.ts";
import { TokenHolders } from "../../runtime/gateway/access/token-holders.ts";
import { jwtIssuer, policy, role, rulesOf } from "../support/access-documents.ts";
import { testNetwork } from "../support/callback-network.ts";
import { eventually } from "../support/eventually.ts";
import { heardTerminal, type HeardTerminal } from "../support/heard-terminal.ts";
import { FormBrowser, openOidcIssuer, type OidcIssuer, type Visited } from "../support/oidc-issuer.ts";
import { openScriptedGateway, replyWith, type ScriptedGateway } from "../support/scripted-gateway.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";
import { issuerPaths, openTokenIssuer } from "../support/token-issuer.ts";
import { openExchange, type TestExchange } from "../support/token-exchange.ts";
import { openRestPlatform, type RestPlatform } from "../support/rest-platform.ts";

/** `weir login --sso` and `--device` against a real OpenID provider and a real token exchange. */
let issuer: OidcIssuer;
let platform: RestPlatform;
let tokens: TestExchange;
/** The platform, with the issuers that it offers. */
let front: ScriptedGateway;
let home: TempDirectory;
let offered: readonly SignInIssuer[];
/** Whether the exchange is unavailable. */
let isExchangeAway = false;

const clientId = "weir-cli";
const file = () => join(home.path, ".config", "weir", "credentials.yaml");

beforeAll(async () => {
  issuer = await openOidcIssuer(
    [
      {
        client_id: clientId,
        application_type: "native",
        token_endpoint_auth_method: "none",
        redirect_uris: ["http://127.0.0.1/callback"],
        grant_types: ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
        response_types: ["code"],
      },
    ],
    { features: { revocation: { enabled: true } } },
  );
  const rules = rulesOf(
    jwtIssuer("company", {
      iss: issuer.url,
      aud: [clientId],
      login: { clientId, scopes: ["openid", "offline_access"] },
    }),
    jwtIssuer("with-secret", { iss: "https://a.example", aud: ["a"], login: { clientId: "a", clientSecretName: "a" } }),
    policy("read", ["Function:List"], ["*"]),
    role("readers", ["read"], { principal: { "jwt:sub": ["alice"] } }),
  );
  tokens = await openExchange(new HttpIssuerDocuments({ closedPorts: [], network: testNetwork() }), rules);
  const { keys, issuers } = tokens;
  const rulesNow = (): RuleSet => tokens.rules;
  platform = await openRestPlatform({
    edition: "enterprise",
    tokens: { rules: rulesNow, keys, holders: new TokenHolders(keys.reader, rulesNow), issuers, now: Date.now },
  });
  front = await openScriptedGateway((response, { method, target, headers, body }) => {
    if (isExchangeAway && target === "/oauth/token") return replyWith(response, 503);
    void (async () => {
      const { authorization, accept = "*/*", "content-type": type } = headers;
      const reply = await send(platform.url + target, {
        method: method as "GET",
        headers: { accept, ...(authorization && { authorization }), ...(type && { "content-type": type }) },
        ...(body === "" ? {} : { body }),
      });
      const text = await reply.body.text();
      const isDescription = target === "/.well-known/openid-configuration";
      const shown = isDescription ? JSON.stringify({ ...(JSON.parse(text) as object), weir_sign_in: offered }) : text;
      replyWith(response, reply.statusCode, shown, { "content-type": String(reply.headers["content-type"]) });
    })().catch((err: unknown) => replyWith(response, 502, String(err)));
  });
});
beforeEach(async () => {
  home = await tempDirectory("cli-sign-in");
  await mkdir(join(home.path, ".config"));
  isExchangeAway = false;
  offered = [{ name: "company", issuer: issuer.url, clientId, scopes: ["openid", "offline_access"] }];
});
afterEach(() => home.remove());
afterAll(async () => {
  await front?.[Symbol.asyncDispose]();
  await platform?.[Symbol.asyncDispose]();
  await tokens?.[Symbol.asyncDispose]();
  await issuer?.[Symbol.asyncDispose]();
});

test("a gateway offers the issuers whose client has no secret", async () => {
  const reply = await fetch(`${platform.url}/.well-known/openid-configuration`);
  expect(await reply.json()).toMatchObject({ weir_sign_in: offered });
});

function begin(args: readonly string[], signal?: AbortSignal) {
  const options = { home: home.path, directory: home.path, ...(signal && { signal }) };
  const terminal = heardTerminal(options);
  const ended = runCli([...args, "--gateway", front.url], terminal);
  return { terminal, ended };
}

async function run(...args: readonly string[]) {
  const { terminal, ended } = begin(args);
  return { code: await ended, ...terminal.written };
}

/** The address that the command asks the person to visit. */
function shownAddress({ written }: HeardTerminal, pattern: RegExp): Promise<string> {
  return eventually(() => pattern.exec(written.stderr)?.[0], { what: "an address on stderr" });
}

const authorization = /http:\S+\/auth\?\S+/;
const device = /http:\S+\/device\?user_code=\S+/;

async function signInAs(name: string, flag: string, pattern: RegExp, ...more: readonly string[]) {
  const { terminal, ended } = begin(["login", flag, "--timeout", "60s", ...more]);
  const address = await shownAddress(terminal, pattern);
  const visited: Visited = await new FormBrowser(name).visit(address);
  return { code: await ended, visited, address, ...terminal.written };
}

async function stored(): Promise<SignedIn> {
  const found = await storedCredentials(file(), front.url);
  if (!isSignedIn(found)) throw new Error("no sign-in is stored");
  return found;
}

/** What is stored, as if its token had come to its end. */
async function endToken(): Promise<SignedIn> {
  const found = await stored();
  const ended = { ...found, signIn: { ...found.signIn, expiresAt: new Date(0).toISOString() } };
  await storeCredentials(file(), front.url, ended);
  return ended;
}

describe.each([
  ["--sso", authorization],
  ["--device", device],
] as const)("weir login %s", (flag, pattern) => {
  test("signs in, exchanges the token and stores it", async () => {
    const { code, stdout, stderr } = await signInAs("alice", flag, pattern, "--name", "prod");
    expect([code, stdout], stderr).toEqual([0, ""]);
    expect(stderr).toContain(`Signed in to ${front.url} as fed:alice\nContext "prod" is the current one\n`);
    const { signIn, token } = await stored();
    expect(signIn).toMatchObject({ issuer: issuer.url, clientId, refreshToken: expect.any(String) as string });
    expect(Date.parse(signIn.expiresAt)).toBeGreaterThan(Date.now());
    for (const secret of [token, signIn.refreshToken ?? ""]) expect(stderr).not.toContain(secret);
    const who = await run("whoami", "-o", "json");
    expect(JSON.parse(who.stdout)).toMatchObject({
      user: "fed:alice",
      identity: { issuer: issuer.url, via: "token", administrator: false, policies: ["read"] },
    });
    expect((await run("list")).code).toBe(0);
  });

  test("shows no token with --debug", async () => {
    const { code, stderr } = await signInAs("alice", flag, pattern, "--debug");
    expect(code).toBe(0);
    expect(stderr).toContain(`> POST ${issuer.url}/token\n`);
    const { signIn, token } = await stored();
    for (const secret of [token, signIn.refreshToken ?? ""]) expect(stderr).not.toContain(secret);
  });

  test("of somebody without a Role stores nothing, and says why", async () => {
    const { code, stderr } = await signInAs("mallory", flag, pattern);
    expect(code).toBe(4);
    expect(stderr).toMatch(/Cannot sign in to http:\S+: .*no Role gives its subject a Policy\n$/);
    expect(await storedCredentials(file(), front.url)).toBeUndefined();
  });

  test("ends when nobody signs in, and at Ctrl-C", async () => {
    const began = performance.now();
    const late = await run("login", flag, "--timeout", "300ms");
    // An issuer is asked for the tokens of a device every 5 s, which nobody waits for.
    expect(performance.now() - began).toBeLessThan(4_900);
    expect([late.code, late.stderr]).toEqual([
      6,
      expect.stringMatching(/Cannot sign in: nobody did so within 300ms; --timeout gives more time\n$/),
    ]);
    const interrupt = new AbortController();
    const { terminal, ended } = begin(["login", flag], interrupt.signal);
    await shownAddress(terminal, pattern);
    interrupt.abort();
    expect(await ended).toBe(130);
  });
});

describe("the browser of --sso", () => {
  test("gets a page that says so, and a request with PKCE, state and nonce", async () => {
    const { visited, address } = await signInAs("alice", "--sso", authorization);
    expect(visited).toMatchObject({ status: 200, text: expect.stringContaining("You can close this page") as string });
    const sent = new URL(address).searchParams;
    expect(sent.get("code_challenge_method")).toBe("S256");
    expect(sent.get("redirect_uri")).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    for (const name of ["code_challenge", "state", "nonce"]) expect(sent.get(name)).toMatch(/^[\w-]{40,}$/);
    expect(sent.get("scope")).toBe("openid offline_access");
  });

  test("is not believed with another state, name or path, and the command goes on", async () => {
    const { terminal, ended } = begin(["login", "--sso"]);
    const address = await shownAddress(terminal, authorization);
    const redirect = new URL(new URL(address).searchParams.get("redirect_uri") ?? "");
    const state = new URL(address).searchParams.get("state") ?? "";
    const attempts: [string, string][] = [
      [`${redirect.href}?code=a&state=other`, redirect.host],
      [`${redirect.origin}/other?code=a&state=${state}`, redirect.host],
      [`${redirect.href}?code=a&state=${state}`, "evil.example"],
    ];
    for (const [url, host] of attempts) {
      const { statusCode, body } = await send(url, { headers: { host } });
      await body.dump();
      expect([url, statusCode]).toEqual([url, 404]);
    }
    await new FormBrowser("alice").visit(address);
    expect(await ended).toBe(0);
  });

  test("that comes back with a refusal ends the command with it", async () => {
    const { terminal, ended } = begin(["login", "--sso"]);
    const address = new URL(await shownAddress(terminal, authorization));
    const { searchParams } = address;
    const back = new URL(searchParams.get("redirect_uri") ?? "");
    for (const [name, value] of [
      ["error", "access_denied"],
      ["state", searchParams.get("state") ?? ""],
      ["iss", issuer.url],
    ] as const)
      back.searchParams.set(name, value);
    await (await fetch(back)).text();
    expect(await ended).toBe(4);
    expect(terminal.written.stderr).toContain(`Cannot sign in with ${issuer.url}: it replied access_denied\n`);
  });

  test("that comes back with a code of another issuer or of nobody is refused", async () => {
    for (const iss of ["https://other.example", issuer.url]) {
      const { terminal, ended } = begin(["login", "--sso"]);
      const { searchParams } = new URL(await shownAddress(terminal, authorization));
      const back = new URL(searchParams.get("redirect_uri") ?? "");
      back.search = new URLSearchParams({ code: "a", state: searchParams.get("state") ?? "", iss }).toString();
      await (await fetch(back)).text();
      expect(await ended).toBe(iss === issuer.url ? 4 : 5);
      expect(await storedCredentials(file(), front.url)).toBeUndefined();
    }
  });
});

describe("a sign-in", () => {
  test("is renewed when its token ends, once for commands that run at the same time", async () => {
    await signInAs("alice", "--sso", authorization);
    const before = await endToken();
    const ends = await Promise.all([run("list"), run("list"), run("list")]);
    expect(ends.map(({ code, stderr }) => [code, stderr])).toEqual([
      [0, ""],
      [0, ""],
      [0, ""],
    ]);
    const { token, signIn } = await stored();
    expect(token).not.toBe(before.token);
    expect(Date.parse(signIn.expiresAt)).toBeGreaterThan(Date.now());
  });

  test("ends with its refresh token: then one has to sign in again", async () => {
    await signInAs("alice", "--sso", authorization);
    const ended = await endToken();
    const { refreshToken: _, ...signIn } = ended.signIn;
    for (const over of [{ ...ended.signIn, refreshToken: "revoked" }, signIn]) {
      await storeCredentials(file(), front.url, { ...ended, signIn: over });
      expect(await run("list")).toEqual({
        code: 4,
        stdout: "",
        stderr: `Cannot use the sign-in to ${front.url}: it has ended\nTry: weir login ${front.url} --sso\n`,
      });
    }
  });

  test("outlives an exchange that fails: the issuer's next refresh token is kept", async () => {
    await signInAs("alice", "--sso", authorization);
    const before = await endToken();
    isExchangeAway = true;
    expect(await run("list")).toMatchObject({ code: 5, stderr: `Cannot sign in to ${front.url}: it replied 503\n` });
    expect((await stored()).signIn.refreshToken).not.toBe(before.signIn.refreshToken);
    isExchangeAway = false;
    expect(await run("list")).toMatchObject({ code: 0, stderr: "" });
  });

  test("is revoked at the issuer by a logout", async () => {
    await signInAs("alice", "--sso", authorization);
    const before = await endToken();
    expect(await run("logout")).toEqual({ code: 0, stdout: "", stderr: `Signed out of ${front.url}\n` });
    await storeCredentials(file(), front.url, before);
    expect(await run("list")).toMatchObject({
      code: 4,
      stderr: expect.stringContaining("it has ended") as string,
    });
  });

  test("is not stored again after a logout", async () => {
    await signInAs("alice", "--sso", authorization);
    const text = await readFile(file(), "utf8");
    expect(text).toContain("refreshToken");
    expect((await run("logout")).code).toBe(0);
    expect(await readFile(file(), "utf8")).not.toContain("refreshToken");
  });
});

describe("a gateway", () => {
  test("offers issuers by name: the first, or the one that is named", async () => {
    const [company] = offered;
    if (company === undefined) throw new Error("nothing is offered");
    offered = [{ ...company, issuer: "http://127.0.0.1:9/none", name: "a" }, company];
    expect(await run("login", "--sso")).toMatchObject({
      code: 5,
      stderr: expect.stringMatching(
        /^Signing in with "a"; others are given with --issuer: company\nCannot reach the issuer at http:\/\/127\.0\.0\.1:9: /,
      ) as string,
    });
    expect((await signInAs("alice", "--sso", authorization, "--issuer", "company")).code).toBe(0);
    expect(await run("login", "--sso", "--issuer", "b")).toMatchObject({
      code: 2,
      stderr: 'Cannot sign in with issuer "b": this gateway offers "a", "company"\n',
    });
  });

  test("that offers none, or an issuer without TLS elsewhere, leads to no sign-in", async () => {
    offered = [];
    expect(await run("login", "--sso")).toMatchObject({
      code: 4,
      stderr: expect.stringContaining("no JwtIssuer") as string,
    });
    offered = [{ name: "a", issuer: "http://issuer.example", clientId, scopes: [] }];
    expect(await run("login", "--device")).toMatchObject({ code: 5, stdout: "" });
  });

  test.each(["file:///etc/passwd", "javascript:alert(1)", "http://issuer.example/auth"])(
    "whose issuer leads the browser to %s leads nowhere",
    async (address) => {
      await using other = await openTokenIssuer();
      const description = { issuer: other.url, authorization_endpoint: address, token_endpoint: `${other.url}/token` };
      other.replace(issuerPaths.description, (_request, response) =>
        response.setHeader("content-type", "application/json").end(JSON.stringify(description)),
      );
      offered = [{ name: "other", issuer: other.url, clientId, scopes: [] }];
      const { code, stderr } = await run("login", "--sso");
      expect([code, stderr]).toEqual([5, expect.stringMatching(/^Cannot (?:use address|sign in with) .*\n$/)]);
      expect(stderr).not.toContain(address);
    },
  );

  test.each<readonly [readonly string[], string]>([
    [["--sso", "--device"], "give one of --sso, --device, a password and a token"],
    [["--sso", "--password-stdin"], "give one of --sso, --device, a password and a token"],
  ])("is asked nothing with %j", async (args, message) => {
    const before = front.requests.length;
    expect(await run("login", ...args)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) as string });
    expect(front.requests.length).toBe(before);
  });
});
