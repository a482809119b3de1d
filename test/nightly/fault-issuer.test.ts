import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { afterAll, beforeAll, expect, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import { steadyCalls, type SteadyCalls } from "../support/steady-calls.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";
import { issuerPaths, openTokenIssuer, type TokenIssuer } from "../support/token-issuer.ts";
import { signToken, tokenKey, type TokenKey } from "../support/token-keys.ts";
import { startWeir, type WeirProcess } from "../support/weir-process.ts";

const program =
  'require("http").createServer((request, response) => response.end("ok")).listen(process.env.PORT, "127.0.0.1")';
const rate = 500;
/** Between two readings of an issuer's keys the gateway waits this long. */
const readInterval = 30_000;

let directory: TempDirectory;
let issuer: TokenIssuer;
let weir: WeirProcess;

beforeAll(async () => {
  issuer = await openTokenIssuer();
  directory = await tempDirectory("issuer");
  await mkdir(join(directory.path, "iam"), { mode: 0o700 });
  await writeFile(join(directory.path, "iam", "rules.yaml"), rules(issuer.url), { mode: 0o600 });
  weir = await startWeir({ data: directory.path, flags: ["--edition=enterprise"] });
  const body = {
    service: "guarded",
    image: "none",
    envProcess: `node -e '${program}'`,
    envVars: { mode: "http" },
    annotations: { "com.service.auth": "required" },
  };
  const deployed = await fetch(`${weir.url}/system/functions?wait=60s`, {
    method: "PUT",
    headers: { authorization: weir.authorization },
    body: JSON.stringify(body),
  });
  expect(deployed.status).toBe(202);
});
afterAll(async () => {
  await weir?.stop();
  await weir?.close();
  await issuer?.[Symbol.asyncDispose]();
  await directory?.remove();
});

test("FI1: an issuer that is down, slow, wrong or rotates its keys fails no protected call, and lets nobody in", async () => {
  const caller = await exchanged(await subject("caller"));
  expect(caller.status).toBe(200);
  const stop = new AbortController();
  const calls = steadyCalls({
    urls: [`${weir.url}/function/guarded`],
    rate,
    headers: { authorization: `Bearer ${caller.token}` },
    signal: stop.signal,
    atOnce: 200,
  });
  const strangers = await tokenKey("ES256", "stranger");
  try {
    for (const [what, disturb] of troubles) {
      disturb(issuer);
      // Keys that were read before count still; what they do not verify gets in under no trouble.
      expect([what, (await exchanged(await subject("caller"))).status]).toEqual([what, 200]);
      expect([what, (await exchanged(await subject("caller", strangers))).status]).toEqual([what, 400]);
      expect([what, await callWith("not a token")]).toEqual([what, 401]);
      expect([what, await callWith(caller.token ?? "")]).toEqual([what, 200]);
    }
    for (const path of [issuerPaths.description, issuerPaths.keys]) issuer.replace(path, undefined);
    await rotate();
  } finally {
    stop.abort();
  }
  const { failures, latencies }: SteadyCalls = await calls;
  expect(failures).toEqual([]);
  expect([...latencies.values()].flat().length).toBeGreaterThan(rate);
});

const troubles: readonly (readonly [string, (issuer: TokenIssuer) => void])[] = [
  ["down", (each) => replaceAll(each, (_request, response) => void response.destroy())],
  ["slow", (each) => replaceAll(each, () => {})],
  ["wrong", (each) => replaceAll(each, (_request, response) => void response.end("<html>"))],
  ["failing", (each) => replaceAll(each, (_request, response) => void response.writeHead(500).end())],
  ["without keys", (each) => replaceAll(each, (_request, response) => void response.end('{"keys":[]}'))],
];

function replaceAll(each: TokenIssuer, reply: Parameters<TokenIssuer["replace"]>[1]): void {
  for (const path of [issuerPaths.description, issuerPaths.keys]) each.replace(path, reply);
}

/** The new key counts once the keys may be read again, and the old one no longer. */
async function rotate(): Promise<void> {
  const old = issuer.key;
  issuer.key = await tokenKey("ES256", "second");
  issuer.keys = [issuer.key.jwk];
  await eventually(
    async () => {
      const { status } = await exchanged(await subject("caller"));
      if (status !== 200) await pause(250);
      return status === 200;
    },
    { what: "a token of the new key to be accepted", within: 2 * readInterval },
  );
  expect((await exchanged(await subject("caller", old))).status).toBe(400);
}

function subject(sub: string, key: TokenKey = issuer.key): Promise<string> {
  const now = Math.floor(Date.now() / 1_000);
  return signToken(key, { iss: issuer.url, aud: "weir", sub, iat: now, exp: now + 600 });
}

async function exchanged(token: string): Promise<{ readonly status: number; readonly token: string | undefined }> {
  const form = new URLSearchParams({
    grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
    subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
    subject_token: token,
  });
  const reply = await fetch(`${weir.url}/oauth/token`, { method: "POST", body: form });
  const { access_token: issued } = (await reply.json()) as { readonly access_token?: string };
  return { status: reply.status, token: issued };
}

async function callWith(token: string): Promise<number> {
  const reply = await fetch(`${weir.url}/function/guarded`, { headers: { authorization: `Bearer ${token}` } });
  await reply.text();
  return reply.status;
}

function rules(iss: string): string {
  return `apiVersion: iam.service.com/v1
kind: JwtIssuer
metadata: {name: local}
spec: {iss: "${iss}", aud: [weir]}
---
apiVersion: iam.service.com/v1
kind: Policy
metadata: {name: call}
spec: {statement: [{sid: call, effect: Allow, action: ["Function:Invoke"], resource: ["functions:*"]}]}
---
apiVersion: iam.service.com/v1
kind: Role
metadata: {name: callers}
spec: {policy: [call], principal: {"jwt:sub": [caller]}}
`;
}
