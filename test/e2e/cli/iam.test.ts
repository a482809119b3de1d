import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { decodeProtectedHeader } from "jose";
import { afterAll, beforeAll, expect, test } from "vitest";

import { gatewayEnvironment, openCliHome, type CliHome, type CommandOptions } from "../../support/cli-home.ts";
import { eventually } from "../../support/eventually.ts";
import { tempDirectory, type TempDirectory } from "../../support/temp-directory.ts";
import { exchangeFields } from "../../support/token-exchange.ts";
import { openTokenIssuer, type TokenIssuer } from "../../support/token-issuer.ts";
import { signToken } from "../../support/token-keys.ts";
import { startWeir, type WeirProcess } from "../../support/weir-process.ts";

/** Who may do what, as processes, against a real Weir with IAM whose rules are files. */
let issuer: TokenIssuer;
let data: TempDirectory;
let weir: WeirProcess;
let person: CliHome;

const manifest = (kind: string, name: string, spec: object): string =>
  JSON.stringify({ apiVersion: "iam.service.com/v1", kind, metadata: { name }, spec });

beforeAll(async () => {
  issuer = await openTokenIssuer();
  data = await tempDirectory("cli-iam");
  person = await openCliHome();
  const rules = join(data.path, "iam");
  await mkdir(rules, { mode: 0o700 });
  const documents = [
    manifest("JwtIssuer", "company", { iss: issuer.url, aud: ["weir"] }),
    manifest("Policy", "read", {
      statement: [{ sid: "list", effect: "Allow", action: ["Function:List"], resource: ["functions:*"] }],
    }),
    manifest("Role", "readers", { policy: ["read"], principal: { "jwt:sub": ["alice"] } }),
  ];
  await writeFile(join(rules, "rules.yaml"), documents.join("\n---\n"), { mode: 0o600 });
  await writeFile(join(person.home, "claims.json"), JSON.stringify({ iss: issuer.url, sub: "alice" }));
  weir = await startWeir({ data: data.path, flags: ["--edition", "enterprise"] });
});
afterAll(async () => {
  await weir?.stop();
  await person?.[Symbol.asyncDispose]();
  await data?.remove();
  await issuer?.[Symbol.asyncDispose]();
});

const run = (args: readonly string[], options: CommandOptions = {}) =>
  person.run(args, { environment: gatewayEnvironment(weir), ...options });
const asToken = (args: readonly string[]) =>
  run([...args, "--token-file", "token"], { environment: { WEIR_GATEWAY: weir.url } });

/** A token of this Weir for alice, which is also in the person's file `token`. */
async function tokenOfAlice(): Promise<string> {
  const now = Math.floor(Date.now() / 1_000);
  const claims = { iss: issuer.url, sub: "alice", aud: "weir", iat: now, exp: now + 300 };
  const form = new URLSearchParams({ ...exchangeFields, subject_token: await signToken(issuer.key, claims) });
  const response = await fetch(`${weir.url}/oauth/token`, { method: "POST", body: form });
  const text = await response.text();
  expect(response.status, text).toBe(200);
  const { access_token: token } = JSON.parse(text) as { readonly access_token: string };
  await writeFile(join(person.home, "token"), token);
  return token;
}

async function publishedKeys(): Promise<readonly string[]> {
  const response = await fetch(`${weir.url}/.well-known/jwks.json`);
  const { keys } = (await response.json()) as { readonly keys: readonly { readonly kid: string }[] };
  return keys.map(({ kid }) => kid);
}

test("weir whoami shows the administrator, and the holder of a token with its policies", async () => {
  expect((await run(["whoami"])).stdout).toBe(
    `gateway  ${weir.url} (WEIR_GATEWAY)\nuser     admin\nvia      basic\nmay      everything\nedition  enterprise\nversion  0.1.0\n`,
  );
  await tokenOfAlice();
  // The token may not ask for the edition.
  const { code, stdout } = await asToken(["whoami"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^gateway {3}http:\S+ \(WEIR_GATEWAY\)\nuser {6}fed:alice\nissuer {4}http:\S+\nvia {7}token\npolicies {2}read\nuntil {5}[-\d]+ [:\d]+\n$/,
  );
});

test("weir login stores a token whose rights are few", async () => {
  await tokenOfAlice();
  const options = { environment: {} };
  expect(await run(["login", weir.url, "--token-file", "token"], options)).toMatchObject({ code: 0 });
  expect((await run(["list", "--gateway", weir.url], options)).code).toBe(0);
  expect((await run(["delete", "hello", "--yes", "--gateway", weir.url], options)).code).toBe(4);
  expect((await run(["logout", weir.url], options)).code).toBe(0);
});

test("weir iam can-i and simulate decide as the gateway does", async () => {
  const actor = ["--as", "claims.json"];
  expect(await run(["iam", "can-i", "Function:List", "openfaas-fn:hello", ...actor])).toEqual({
    code: 0,
    stdout: 'yes: Role "readers" gives Policy "read", statement "list"\n',
    stderr: "",
  });
  expect(await run(["iam", "can-i", "Function:Delete", "functions:hello", ...actor])).toEqual({
    code: 1,
    stdout: "no: no policy allows Function:Delete on functions:hello\n",
    stderr: "",
  });
  expect(await run(["iam", "can-i", "Function:Delete", "functions:hello"])).toMatchObject({ code: 0 });
  await tokenOfAlice();
  // Whoever asks needs a right of its own, and for no answer there is neither 0 nor 1.
  expect((await asToken(["iam", "can-i", "Function:List", "functions:*"])).code).toBe(4);
  const { stdout } = await run(["iam", "simulate", "functions:hello", "--as-token", "token", "-o", "json"]);
  const rows = JSON.parse(stdout) as { readonly action: string; readonly allowed: boolean }[];
  expect(rows.filter(({ allowed }) => allowed).map(({ action }) => action)).toEqual(["Function:List"]);
});

test("weir iam check finds nothing wrong with what the gateway reads", async () => {
  expect(await run(["iam", "check", join(data.path, "iam"), "-o", "json"])).toMatchObject({ code: 0, stdout: "[]\n" });
});

test("weir iam rotate-key gives a Weir that runs another key, and every token stays valid", async () => {
  const before = await tokenOfAlice();
  const [first] = await publishedKeys();
  expect(decodeProtectedHeader(before).kid).toBe(first);
  expect((await run(["iam", "rotate-key", "--data", data.path])).code).toBe(0);
  const keys = await eventually(
    async () => {
      const found = await publishedKeys();
      return found.length === 2 ? found : undefined;
    },
    { what: "both keys to be published" },
  );
  expect(keys[0]).not.toBe(first);
  expect(keys[1]).toBe(first);
  expect((await asToken(["list"])).code).toBe(0);
  await tokenOfAlice();
  expect((await asToken(["list"])).code).toBe(0);
  const again = await run(["iam", "rotate-key", "--data", data.path]);
  expect([again.code, again.stderr]).toEqual([2, expect.stringContaining("say --yes")]);
  expect(await publishedKeys()).toEqual(keys);
});
