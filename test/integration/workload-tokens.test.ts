import { generateKeyPairSync } from "node:crypto";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { HttpIssuerDocuments } from "../../runtime/adapters/http/issuers/http-issuer-documents.ts";
import { HttpProber } from "../../runtime/adapters/http/probe/http-prober.ts";
import { openLocalProvider } from "../../runtime/adapters/machine/local/open-local-provider.ts";
import type { RuleSet } from "../../runtime/core/access/rule-set.ts";
import { desireFunction } from "../../runtime/core/functions/desired-function.ts";
import type { OpenEngine } from "../../runtime/core/ports/engine.ts";
import { TokenHolders } from "../../runtime/gateway/access/token-holders.ts";
import { openOwnKeys, type OwnKeys } from "../../runtime/gateway/access/tokens/own-keys.ts";
import type { TokenParts } from "../../runtime/gateway/access/tokens/token-parts.ts";
import { TrustedKeys } from "../../runtime/gateway/access/tokens/trusted-keys.ts";
import { holdLock } from "../../runtime/process/hold-lock.ts";
import { createLog } from "../../runtime/process/log.ts";
import { buildProvider, type Provider } from "../../runtime/provider/build-provider.ts";
import { jwtIssuer, policy, role, rulesOf } from "../support/access-documents.ts";
import { testNetwork } from "../support/callback-network.ts";
import { newKeyPem, writeKeyFiles } from "../support/key-files.ts";
import { MemoryEndpoints } from "../support/memory/memory-endpoints.ts";
import { MemoryFunctionStore } from "../support/memory/memory-function-store.ts";
import { MemoryNamespaceStore } from "../support/memory/memory-namespace-store.ts";
import { callAny, published } from "../support/provider-view.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";
import { claimsOf, signToken, tokenKey } from "../support/token-keys.ts";
import { exchangeFields } from "../support/token-exchange.ts";
import { openRestPlatform, type RestPlatform } from "../support/rest-platform.ts";

const issuer = "https://weir.example";
const audience = `${issuer}/oauth/token`;
const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });

/** A gateway, and a provider whose functions it knows by their workload tokens. */
let directory: TempDirectory;
let platform: RestPlatform;
let engine: OpenEngine;
let provider: Provider;
let functions: MemoryFunctionStore;
let endpoints: MemoryEndpoints;
let rules: RuleSet;
let keys: OwnKeys;

const workloads = jwtIssuer("workloads", { iss: `${issuer}/workload`, aud: [audience] });
const reader = role("reader", ["read"], {
  condition: { StringEquals: { "jwt:iss": [`${issuer}/workload`], "jwt:sub": ["function:functions:reader"] } },
});
const read = policy("read", ["Function:List", "Function:Get"], ["functions:*"]);

/**
 * A function that exchanges its token, and replies with the statuses of what it may do then and of what it may not; its
 * own token is good for nothing but that.
 */
const program = `
const { readFileSync } = require("node:fs");
const { GATEWAY_URL: gateway, SERVICE_TOKEN_FILE: file } = process.env;
const status = async (token, method, path, body) => {
  const headers = { authorization: "Bearer " + token, "content-type": "application/json" };
  return (await fetch(gateway + path, { method, headers, body: body && JSON.stringify(body) })).status;
};
const run = async () => {
  if (file === undefined) return "no token";
  const own = readFileSync(file, "utf8");
  const form = { grant_type: "${exchangeFields.grant_type}", subject_token_type: "urn:ietf:params:oauth:token-type:jwt", subject_token: own };
  const exchanged = await fetch(gateway + "/oauth/token", { method: "POST", body: new URLSearchParams(form) });
  const body = await exchanged.json();
  if (exchanged.status !== 200) return exchanged.status + " " + body.error_description;
  const token = body.access_token;
  return JSON.stringify({
    list: await status(token, "GET", "/system/functions"),
    remove: await status(token, "DELETE", "/system/functions", { functionName: "reader" }),
    secrets: await status(token, "GET", "/system/secrets"),
    own: await status(own, "GET", "/system/functions"),
    expiresIn: body.expires_in,
  });
};
require("node:http").createServer((q, r) => run().then((text) => r.end(text), (err) => r.end(String(err)))).listen(process.env.PORT, "127.0.0.1");
`;

beforeAll(async () => {
  directory = await tempDirectory("workloads");
  const data = directory.path;
  await writeKeyFiles(data, newKeyPem());
  rules = rulesOf(workloads, read, reader);
  const log = createLog("test", "silent");
  const documents = new HttpIssuerDocuments({ closedPorts: [], network: testNetwork() });
  keys = openOwnKeys({ directory: data, issuer, workloadKey: publicKey });
  const tokens: TokenParts = {
    rules: () => rules,
    keys,
    holders: new TokenHolders(keys.reader, () => rules),
    issuers: new TrustedKeys({ documents, rules: () => rules, log }),
    now: Date.now,
  };
  platform = await openRestPlatform({ edition: "enterprise", tokens });
  engine = await openLocalProvider({ data, secrets: join(data, "secrets"), logs: join(data, "logs"), holdLock });
  functions = new MemoryFunctionStore();
  endpoints = new MemoryEndpoints();
  provider = buildProvider({
    functions,
    namespaces: new MemoryNamespaceStore(),
    secrets: engine.secrets,
    replicas: engine.replicas,
    endpoints,
    prober: new HttpProber(),
    gatewayUrl: platform.url,
    secretsDirectory: (ref) => engine.secretsDirectory(ref),
    identity: { issuer, key: privateKey },
    upstreamTimeout: 5_000,
    log,
  });
  await provider.open();
});
afterAll(async () => {
  await provider?.close();
  await engine?.close();
  await platform?.[Symbol.asyncDispose]();
  await directory?.remove();
});

/** Deploys the program as a function, and calls it once it is ready. */
async function replyOf(name: string, annotations: Record<string, string>): Promise<string> {
  const envProcess = `node -e '${program}'`;
  const deployment = { service: name, image: "example/hello:1", envProcess, envVars: { mode: "http" }, annotations };
  await functions.write({ namespace: "functions", name }, (current) =>
    desireFunction(current, "functions", deployment, new Date().toISOString()),
  );
  const ready = await published(
    endpoints,
    (entry) => entry.name === name && entry.addresses.length === 1,
    `function ${name}`,
    60_000,
  );
  return callAny(ready.addresses);
}

test("a function exchanges its token, and may do what its role says and nothing else", async () => {
  const named = { "com.service.serviceaccount": "reader" };
  expect(JSON.parse(await replyOf("reader", named))).toEqual({
    list: 200,
    remove: 403,
    secrets: 403,
    own: 401,
    expiresIn: 1_800,
  });
  expect(await replyOf("stranger", named)).toBe("400 Cannot exchange token: no Role gives its subject a Policy");
});

test("a function that names no service account has no token", async () => {
  expect(await replyOf("nobody", {})).toBe("no token");
});

describe("at the exchange", () => {
  const good = () => {
    const iat = Math.floor(Date.now() / 1_000) - 5;
    return { iss: `${issuer}/workload`, aud: audience, sub: "function:functions:reader", iat, exp: iat + 3_600 };
  };
  const header = { kid: undefined, typ: "weir-workload+jwt" };
  const usable = privateKey.toCryptoKey({ name: "ECDSA", namedCurve: "P-256" }, false, ["sign"]);
  const key = { alg: "ES256", kid: "", privateKey: usable, jwk: {} };
  const exchange = async (token: string) => {
    const fields = { ...exchangeFields, subject_token: token };
    const response = await fetch(`${platform.url}/oauth/token`, { method: "POST", body: new URLSearchParams(fields) });
    const body = (await response.json()) as Readonly<Record<string, unknown>>;
    return [response.status, body["error_description"] ?? claimsOf(String(body["access_token"]))["sub"]] as const;
  };
  const refused = (why: string) => [400, `Cannot exchange token: ${why}`];
  const invalid = (why: string) => refused(`subject_token is not valid: ${why}`);

  test("a good token is taken, which is none of the platform's own", async () => {
    const token = await signToken(key, good(), header);
    expect(await exchange(token)).toEqual([200, "fed:function:functions:reader"]);
    expect(await keys.reader.read(token)).toBeUndefined();
  });

  test.each<[string, () => Promise<string>, string | RegExp]>([
    ["another typ", () => signToken(key, good(), { ...header, typ: "JWT" }), "its typ is not weir-workload+jwt"],
    ["no typ", () => signToken(key, good(), { kid: undefined }), "its typ is not weir-workload+jwt"],
    ["another key", async () => signToken(await tokenKey(), good(), header), "signature verification failed"],
    ["another alg", async () => signToken(await tokenKey("RS256"), good(), header), "its alg is not ES256"],
    ["our own audience", () => signToken(key, { ...good(), aud: issuer }, header), /'aud' claim/],
    [
      "our own issuer",
      () => signToken(key, { ...good(), iss: issuer }, header),
      "it is no valid token of this platform",
    ],
    ["an end in the past", () => signToken(key, { ...good(), exp: good().iat - 60 }, header), /'exp' claim/],
  ])("is refused with %s", async (_what, token, why) => {
    const [status, sentence] = await exchange(await token());
    expect(status).toBe(400);
    expect(sentence).toMatch(typeof why === "string" ? new RegExp(`${RegExp.escape(why)}$`) : why);
  });

  test("it needs a JwtIssuer, with its audience", async () => {
    const token = await signToken(key, good(), header);
    rules = rulesOf(read, reader);
    expect(await exchange(token)).toEqual(invalid("no JwtIssuer has its iss"));
    rules = rulesOf(jwtIssuer("workloads", { iss: `${issuer}/workload`, aud: ["weir"] }), read, reader);
    expect(await exchange(token)).toEqual(invalid(`its JwtIssuer does not have ${audience} in aud`));
    rules = rulesOf(workloads, read, reader);
    expect((await exchange(token))[0]).toBe(200);
  });
});
