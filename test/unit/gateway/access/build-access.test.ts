import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import pino from "pino";
import { Registry } from "prom-client";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

import type { Edition } from "../../../../runtime/api/editions.ts";
import { PlatformError } from "../../../../runtime/api/platform-error.ts";
import type { AccessRules } from "../../../../runtime/core/ports/access-rules.ts";
import type { Principal } from "../../../../runtime/core/access/principal.ts";
import { buildAccess, type BuiltAccess } from "../../../../runtime/gateway/access/build-access.ts";
import { openOwnKeys, type OwnKeys } from "../../../../runtime/gateway/access/tokens/own-keys.ts";
import { newKeyPem, writeKeyFiles } from "../../../support/key-files.ts";
import { MemoryAccessRules } from "../../../support/memory/memory-access-rules.ts";
import { tempDirectory, type TempDirectory } from "../../../support/temp-directory.ts";

const issuer = "https://weir.example";
const pay = { namespace: "dev", name: "pay" };
const password = `Basic ${Buffer.from("admin:secret").toString("base64")}`;
const api = "iam.service.com/v1";
const manifests = {
  policy: {
    apiVersion: api,
    kind: "Policy",
    metadata: { name: "callers" },
    spec: { statement: [{ sid: "1", effect: "Allow", action: ["Function:Invoke"], resource: ["dev:*"] }] },
  },
  issuer: {
    apiVersion: api,
    kind: "JwtIssuer",
    metadata: { name: "issuer" },
    spec: { iss: "https://issuer.example", aud: ["weir"] },
  },
  role: { apiVersion: api, kind: "Role", metadata: { name: "all" }, spec: { policy: ["callers"] } },
};

let directory: TempDirectory;
let keys: OwnKeys;
let logged: Record<string, unknown>[];
beforeEach(async () => {
  directory = await tempDirectory("access");
  await writeFile(join(directory.path, "basic-auth-user"), "admin");
  await writeFile(join(directory.path, "basic-auth-password"), "secret");
  await writeKeyFiles(directory.path, newKeyPem());
  keys = openOwnKeys({ directory: directory.path, issuer });
  logged = [];
});
afterEach(() => directory.remove());

function build(rules: AccessRules, options: { edition?: Edition; basicAuth?: boolean } = {}): BuiltAccess {
  const { edition = "enterprise", basicAuth = true } = options;
  return buildAccess({
    settings: { basicAuth, edition, publicUrl: undefined, secretMountPath: directory.path },
    access: { rules, keys, documents: { fetchFromIssuer: () => Promise.reject(new Error("no issuer")) } },
    registry: new Registry(),
    log: pino({ level: "info" }, { write: (line: string) => void logged.push(JSON.parse(line)) }),
  });
}

async function tokenOf(kind: "api" | "function", more: object = {}): Promise<string> {
  const issuedAt = Math.floor(Date.now() / 1_000);
  const claims = {
    sub: "fed:alice",
    "fed:iss": "https://issuer.example",
    "fed:aud": "weir",
    policy: ["callers"],
    ...more,
  };
  return `Bearer ${await keys.sign(kind, claims, { issuedAt, expiresAt: issuedAt + 60 })}`;
}

/** Whoever calls `dev:pay` with this header, or the code of the refusal. */
async function callerOf({ admission }: BuiltAccess, authorization: string): Promise<string> {
  const token = await admission.readToken?.(authorization);
  try {
    const principal: Principal | void = admission.authorise({ authorization, token, client: "10.0.0.1" }, pay);
    return principal?.subject ?? "";
  } catch (err) {
    if (err instanceof PlatformError) return err.code;
    throw err;
  }
}

describe("buildAccess()", () => {
  test("has no rules before they are watched, then those in force", async () => {
    const rules = new MemoryAccessRules(...Object.values(manifests));
    const access = build(rules);
    const alice = await tokenOf("api");
    expect(await callerOf(access, alice)).toBe("forbidden");
    const end = await access.watch();
    expect(access.tokens?.rules().policies.size).toBe(1);
    expect(await callerOf(access, alice)).toBe("fed:alice");
    rules.set("2", undefined);
    expect(await callerOf(access, alice)).toBe("forbidden");
    end();
    rules.set("2", manifests.role);
    expect(await callerOf(access, alice)).toBe("forbidden");
    expect(await callerOf(access, password)).toBe("admin");
    await access.close();
  });

  test("finds a holder in one place for calls and for /system", async () => {
    const access = build(new MemoryAccessRules(...Object.values(manifests)));
    await access.watch();
    const authorization = await tokenOf("api");
    const token = await access.admission.readToken?.(authorization);
    if (token === undefined) throw new Error("the token is not valid");
    const caller = access.admission.authorise({ authorization, token, client: "" }, pay);
    expect(access.tokens?.holders.holderOf(token)).toBe(caller);
  });

  test("rejects when the rules cannot be read at all", async () => {
    const refusal = new PlatformError("internal_error", "Cannot read rules: others may write them");
    await expect(build({ watch: () => Promise.reject(refusal) }).watch()).rejects.toBe(refusal);
  });

  test("knows the administrator alone in an edition without IAM", async () => {
    const watched: string[] = [];
    const access = build(
      {
        watch: async () => {
          watched.push("rules");
          return () => {};
        },
      },
      { edition: "pro" },
    );
    (await access.watch())();
    expect(access.tokens).toBeUndefined();
    expect(watched).toEqual([]);
    expect(await callerOf(access, await tokenOf("api"))).toBe("credentials_invalid");
    expect(await callerOf(access, password)).toBe("admin");
  });

  test("lets anybody pass where basic_auth is off, and knows the holders of tokens still", async () => {
    const access = build(new MemoryAccessRules(...Object.values(manifests)), { basicAuth: false });
    await access.watch();
    for (const authorization of ["", "Bearer wrong", "Basic wrong"])
      expect(await callerOf(access, authorization)).toBe("admin");
    expect(await callerOf(access, await tokenOf("api"))).toBe("fed:alice");
    expect(await callerOf(access, await tokenOf("api", { policy: [] }))).toBe("forbidden");
  });

  test("keeps every token of this platform, and the administrator's name, from functions", async () => {
    const { admission } = build(new MemoryAccessRules());
    const scope = { function: { permissions: ["*"], audience: [] } };
    for (const own of [await tokenOf("api"), await tokenOf("function", scope), password])
      expect(admission.isPlatformCredential(own)).toBe(true);
    expect(admission.isPlatformCredential("Bearer abc")).toBe(false);
  });

  test("logs what roles that only report would have allowed, once for each refusal", async () => {
    const trial = { ...manifests.role, spec: { ...manifests.role.spec, mode: "report" } };
    const access = build(new MemoryAccessRules(manifests.issuer, manifests.policy, trial));
    await access.watch();
    const principal = undefined;
    const facts = { principal, action: "Function:Invoke", resources: ["dev:pay"], by: undefined, status: 403 };
    const rest = { code: "forbidden", address: "10.0.0.1", requestId: undefined, callId: undefined } as const;
    access.observer.refused({ ...facts, ...rest, reported: { role: "all", policy: "callers", sid: "1" } });
    access.observer.refused({ ...facts, ...rest, reported: undefined });
    expect(logged).toMatchObject([
      { msg: "a report-only role would have allowed this", role: "all", policy: "callers", resources: ["dev:pay"] },
    ]);
  });
});
