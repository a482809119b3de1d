import { join } from "node:path";

import { decodeJwt, decodeProtectedHeader } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { HttpIssuerDocuments } from "../../runtime/adapters/http/issuers/http-issuer-documents.ts";
import { readKeySet } from "../../runtime/gateway/access/tokens/read-key-set.ts";
import { eventually } from "../support/eventually.ts";
import { keycloakRules, openKeycloakGateway, type KeycloakGateway } from "../support/keycloak-gateway.ts";
import { keycloakDistribution } from "../support/keycloak-distribution.ts";
import { commandClient, type KeycloakPerson } from "../support/keycloak-realm.ts";
import { startKeycloak, type Keycloak } from "../support/keycloak.ts";
import { writeRules } from "../support/rule-directory.ts";
import { say } from "../support/say.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { exchangeFields } from "../support/token-exchange.ts";
import { startWeir } from "../support/weir-process.ts";

/** Tokens and keys of a real Keycloak, also at a real `npm start`. */
const distribution = await keycloakDistribution(say);

type Exchanged = readonly [status: number, fields: Readonly<Record<string, unknown>>];

async function exchange(gateway: string, subjectToken: string): Promise<Exchanged> {
  const body = new URLSearchParams({ ...exchangeFields, subject_token: subjectToken });
  const reply = await fetch(`${gateway}/oauth/token`, { method: "POST", body });
  return [reply.status, (await reply.json()) as Readonly<Record<string, unknown>>];
}

/** The status of a request with a token of the gateway. */
async function statusOf(url: string, token: unknown, method = "GET", body?: object): Promise<number> {
  const headers = { authorization: `Bearer ${String(token)}`, "content-type": "application/json" };
  const reply = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  await reply.body?.cancel();
  return reply.status;
}

const refused = (why: RegExp) => [400, { error: "invalid_request", error_description: expect.stringMatching(why) }];
const noRole = /no Role gives its subject a Policy$/;

describe.skipIf(typeof distribution === "string")("a token of Keycloak", () => {
  let keycloak: Keycloak;
  beforeAll(async () => {
    if (typeof distribution !== "string") keycloak = await startKeycloak(distribution);
  });
  afterAll(() => keycloak?.[Symbol.asyncDispose]());

  const exchanged = async (gateway: string, person: KeycloakPerson): Promise<unknown> => {
    const [status, fields] = await exchange(gateway, await keycloak.idToken(person));
    expect([status, fields]).toEqual([200, expect.objectContaining({ token_type: "Bearer" })]);
    return fields["access_token"];
  };

  test("is good at npm start for what the groups of its person may do, as long as they may", async () => {
    await using data = await tempDirectory("keycloak-data");
    await using iam = await tempDirectory("keycloak-rules");
    const write = (...left: readonly string[]): Promise<void> => {
      const kept = keycloakRules(keycloak.issuer).filter(({ name }) => !left.includes(name));
      const manifests = kept.map(({ kind, name, spec }) => {
        return { apiVersion: "iam.service.com/v1", kind, metadata: { name }, spec };
      });
      return writeRules(join(iam.path, "rules.yaml"), ...manifests);
    };
    await write();
    const flags = ["--edition", "enterprise", "--iam-directory", iam.path];
    await using weir = await startWeir({ data: data.path, flags });
    const functions = `${weir.url}/system/functions`;
    const hello = { service: "hello", image: "hello", envProcess: "tr a-z A-Z" };

    const alice = await exchanged(weir.url, "alice");
    expect(decodeJwt(String(alice))).toMatchObject({
      "fed:iss": keycloak.issuer,
      "fed:aud": commandClient,
      groups: expect.arrayContaining(["deployers", "on-call"]) as unknown,
      policy: ["deploy", "read"],
    });
    const bob = await exchanged(weir.url, "bob");
    expect(await statusOf(functions, bob, "PUT", hello)).toBe(403);
    expect(await statusOf(functions, alice, "PUT", hello)).toBe(202);
    for (const token of [alice, bob]) expect(await statusOf(functions, token)).toBe(200);
    expect(await exchange(weir.url, await keycloak.idToken("mallory"))).toEqual(refused(noRole));

    await write("readers");
    await eventually(async () => (await statusOf(`${weir.url}/system/function/hello`, bob)) === 403, {
      what: "the end of Bob's rights",
    });
    expect(await statusOf(`${weir.url}/system/function/hello`, alice)).toBe(200);
    expect(await exchange(weir.url, await keycloak.idToken("bob"))).toEqual(refused(noRole));
    await weir.stop();
  });

  describe("and the realm's keys", () => {
    /** The clock of tokens and keys, in milliseconds ahead of the real one. */
    let ahead = 0;
    let gateway: KeycloakGateway;
    let url: string;
    beforeAll(async () => {
      gateway = await openKeycloakGateway(keycloakRules(keycloak.issuer), () => Date.now() + ahead);
      ({ url } = gateway.opened.platform);
    });
    afterAll(() => gateway?.[Symbol.asyncDispose]());

    test("is verified by those for signatures alone", async () => {
      const { keys } = (await keycloak.admin("GET", "/keys")) as RealmKeys;
      expect(keys.map(({ use }) => use)).toEqual(expect.arrayContaining(["SIG", "ENC"]));
      const [issuer] = [...gateway.tokens.rules.issuers.values()];
      if (issuer === undefined) throw new Error("there is no issuer");
      const usable = await readKeySet(issuer, new HttpIssuerDocuments({ closedPorts: [] }));
      const published = keys.filter(({ use, publicKey }) => use === "SIG" && publicKey !== undefined);
      expect(new Set(usable.map(({ kid }) => kid))).toEqual(new Set(published.map(({ kid }) => kid)));
    });

    test("stays good when the realm gets another key, and ends with its own", async () => {
      const old = await keycloak.idToken("alice");
      const kept = await exchanged(url, "alice");
      await keycloak.admin("POST", "/components", newKey);
      const next = await keycloak.idToken("alice");
      const [oldKid, nextKid] = [old, next].map((each) => decodeProtectedHeader(each).kid);
      expect(nextKid).not.toBe(oldKid);
      ahead += 30_000;
      for (const token of [next, old, next]) expect((await exchange(url, token))[0]).toBe(200);

      const { keys } = (await keycloak.admin("GET", "/keys")) as RealmKeys;
      const providerId = keys.find(({ kid }) => kid === oldKid)?.providerId ?? "";
      await keycloak.admin("DELETE", `/components/${providerId}`);
      expect((await exchange(url, old))[0]).toBe(200);
      ahead += 600_000;
      expect((await exchange(url, next))[0]).toBe(200);
      expect(await exchange(url, old)).toEqual(refused(/no usable key of its kid and alg$/));
      // A token of the gateway's own does not depend on the issuer any more.
      expect(await statusOf(`${url}/system/functions`, kept)).toBe(200);
    });
  });
});

interface RealmKeys {
  readonly keys: readonly {
    readonly kid: string;
    readonly use: string;
    readonly providerId: string;
    readonly publicKey?: string;
  }[];
}

/** A key that is preferred to the present one. */
const newKey = {
  name: "next",
  providerId: "rsa-generated",
  providerType: "org.keycloak.keys.KeyProvider",
  config: { priority: ["200"], enabled: ["true"], active: ["true"], keySize: ["2048"] },
};
