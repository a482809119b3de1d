import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";

import { clientAddresses } from "../../runtime/gateway/edge/client-address.ts";
import type { ObservedAccess } from "../../runtime/gateway/access/access-observer.ts";
import { eventually } from "../support/eventually.ts";
import { FakeTokens } from "../support/fake-tokens.ts";
import { memoryQueues } from "../support/memory-queues.ts";
import { MemoryDeadLetters } from "../support/memory/memory-dead-letters.ts";
import { openRestPlatform, type RestPlatform } from "../support/rest-platform.ts";

/** What holders of tokens see and may do on `/system`. */
let platform: RestPlatform;
const tokens = new FakeTokens();
const refused: ObservedAccess[] = [];
const changed: ObservedAccess[] = [];
const letters = new MemoryDeadLetters();
const retriesOf: string[] = [];

beforeAll(async () => {
  platform = await openRestPlatform({
    edition: "enterprise",
    tokens: tokens.parts,
    observer: { refused: (access) => refused.push(access), changed: (access) => changed.push(access) },
    queueParts: { ...memoryQueues(), letters, retriesOf: ({ name }) => void retriesOf.push(name) },
  });
  const labels = { "com.service.namespace": "1" };
  for (const name of ["dev", "prod"]) {
    const entry = { name, labels, annotations: {}, createdAt: "2026-01-01T00:00:00Z", deleting: false };
    await platform.namespaces.write(name, () => entry);
  }
});
afterAll(async () => {
  await platform?.[Symbol.asyncDispose]();
});
beforeEach(async () => {
  platform.functions.clear();
  platform.secrets.clear();
  refused.length = 0;
  changed.length = 0;
});

async function deploy(...names: readonly string[]): Promise<void> {
  for (const each of names) {
    const [namespace = "", service = ""] = each.split(":");
    const status = await platform.statusOf("PUT", "/system/functions", { service, namespace, image: "acme/it:1" });
    expect(status).toBe(202);
  }
  changed.length = 0;
}

/** Sends a request with a token; resolves with status and text. */
async function as(authorization: string, method: string, path: string, body?: unknown): Promise<[number, string]> {
  const response = await platform.call(method, path, body, { authorization });
  return [response.status, await response.text()];
}

async function namesOf(authorization: string, path: string): Promise<unknown> {
  const [status, text] = await as(authorization, "GET", path);
  if (status !== 200) return status;
  const list: readonly (string | { readonly name: string })[] = JSON.parse(text);
  return list.map((each) => (typeof each === "string" ? each : each.name));
}

describe("lists", () => {
  test("hold what the sender may see, and are 403 for who may see nothing", async () => {
    await deploy("functions:open", "dev:pay", "dev:shop", "prod:pay");
    tokens.allow({
      alice: [
        [["Function:List"], ["dev:pay", "prod:*"]],
        [["Namespace:List"], ["dev:*", "gone:*"]],
        [["Secret:List"], ["dev:*"]],
      ],
    });
    const alice = tokens.give("alice");
    expect(await namesOf(alice, "/system/functions?namespace=dev")).toEqual(["pay"]);
    expect(await namesOf(alice, "/system/functions?namespace=prod")).toEqual(["pay"]);
    expect(await namesOf(alice, "/system/functions")).toBe(403);
    expect(await namesOf(alice, "/system/namespaces")).toEqual(["dev"]);
    expect(await namesOf(alice, "/system/secrets?namespace=dev")).toEqual([]);
    expect(await namesOf(alice, "/system/secrets")).toBe(403);
    expect(await namesOf(alice, "/system/queues")).toBe(403);
    expect(await namesOf(platform.authorization, "/system/functions?namespace=dev")).toEqual(["pay", "shop"]);
  });

  test("of dead letters hold those of functions that the sender may list, page by page", async () => {
    const ids = [1, 2, 3, 4].map((last) => `7f3c1d52-5c0e-4d7b-9a53-0f5d2f4f2f1${last}`);
    for (const [index, id] of ids.entries()) {
      await letters.put({
        kind: "call",
        id,
        queue: "default",
        function: { namespace: index === 1 || index === 2 ? "prod" : "dev", name: "pay" },
        reason: "exhausted",
        attempts: 1,
        lastStatus: 500,
        acceptedAt: 0,
        deadAt: 0,
        redrives: 0,
        headers: new Map(),
        body: Buffer.alloc(0),
      });
    }
    tokens.allow({
      keeper: [
        [["Queue:*"], ["*"]],
        [["Function:List"], ["dev:*"]],
      ],
    });
    const keeper = tokens.give("keeper");
    const seen: string[] = [];
    for (let after: string | undefined = ""; after !== undefined;) {
      const [, text] = await as(keeper, "GET", `/system/queue/default/dead-letters?limit=1&after=${after}`);
      const page: { readonly items: { readonly callId: string }[]; readonly next?: string } = JSON.parse(text);
      seen.push(...page.items.map(({ callId }) => callId));
      after = page.next;
    }
    expect(seen).toEqual([ids[0], ids[3]]);
    expect(await as(keeper, "DELETE", `/system/queue/default/dead-letters/${ids[1]}`)).toEqual([
      404,
      expect.stringMatching(/^Cannot delete call .*: queue "default" has no dead letter of it/),
    ]);
    expect((await as(keeper, "POST", `/system/queue/default/dead-letters/${ids[1]}/redrive`))[0]).toBe(404);
    expect(retriesOf).toEqual([]);
    expect((await as(keeper, "DELETE", `/system/queue/default/dead-letters/${ids[0]}`))[0]).toBe(202);
    expect(letters.all().map(({ id }) => id)).toEqual(ids.slice(1));
  });
});

describe("a deployment", () => {
  const pay = { service: "pay", namespace: "dev", image: "acme/pay:2" };

  test("of a new function needs Function:Create, of an existing one Function:Update", async () => {
    tokens.allow({ creator: [["Function:Create"], ["dev:pay"]], updater: [["Function:Update"], ["dev:pay"]] });
    const [creator, updater] = [tokens.give("creator"), tokens.give("updater")];
    expect(await as(updater, "PUT", "/system/functions", pay)).toEqual([
      403,
      'Cannot create function "pay" in "dev": fed:updater (https://issuer.example) has no policy that allows Function:Create on dev:pay\n',
    ]);
    expect(platform.functions.size).toBe(0);
    expect((await as(creator, "PUT", "/system/functions", pay))[0]).toBe(202);
    expect((await as(creator, "PUT", "/system/functions", { ...pay, image: "acme/pay:3" }))[0]).toBe(403);
    expect((await as(updater, "PUT", "/system/functions", { ...pay, image: "acme/pay:4" }))[0]).toBe(202);
    expect([...platform.functions.values()].map(({ deployment }) => deployment.image)).toEqual(["acme/pay:4"]);
    await eventually(() => changed.length === 2, { what: "both changes" });
    expect(changed.map(({ principal, action, resources, by }) => [principal?.subject, action, resources, by])).toEqual([
      ["fed:creator", "Function:Create", ["dev:pay"], { role: "creator", policy: "creator", sid: "1" }],
      ["fed:updater", "Function:Update", ["dev:pay"], { role: "updater", policy: "updater", sid: "1" }],
    ]);
  });

  test("is refused in the same words whether the function exists or not", async () => {
    tokens.allow({ bob: [["Function:List"], ["*"]] });
    const before = await as(tokens.give("bob"), "PUT", "/system/functions", pay);
    await deploy("dev:pay");
    expect(await as(tokens.give("bob"), "PUT", "/system/functions", pay)).toEqual(before);
    expect(before).toEqual([403, expect.stringContaining("allows Function:Update on dev:pay")]);
  });
});

describe("a namespace", () => {
  test("is its real name to policies, whatever alias names it", async () => {
    await deploy("functions:pay");
    tokens.allow({
      alice: [["Function:*", "Secret:*"], ["functions:*"]],
      mallory: [["Function:*"], ["openfaas-fn:*"]],
    });
    const [alice, mallory] = [tokens.give("alice"), tokens.give("mallory")];
    for (const namespace of ["", "?namespace=functions", "?namespace=openfaas-fn"]) {
      expect((await as(alice, "GET", `/system/function/pay${namespace}`))[0]).toBe(200);
      expect((await as(mallory, "GET", `/system/function/pay${namespace}`))[0]).toBe(403);
      expect(await namesOf(alice, `/system/functions${namespace}`)).toEqual(["pay"]);
    }
    const secret = { name: "key", value: "x", namespace: "openfaas-fn" };
    expect((await as(alice, "POST", "/system/secrets", secret))[0]).toBe(201);
    expect(
      (await as(mallory, "DELETE", "/system/functions", { functionName: "pay", namespace: "openfaas-fn" }))[0],
    ).toBe(403);
  });

  test("of an alias's own name hides the default one, as for the administrator", async () => {
    await deploy("functions:pay");
    const labels = { "com.service.namespace": "1" };
    const entry = { name: "openfaas-fn", labels, annotations: {}, createdAt: "2026-01-02T00:00:00Z", deleting: false };
    await platform.namespaces.write("openfaas-fn", () => entry);
    tokens.allow({ alice: [["Function:*"], ["functions:*"]], mallory: [["Function:*"], ["openfaas-fn:*"]] });
    expect((await as(tokens.give("alice"), "GET", "/system/function/pay?namespace=openfaas-fn"))[0]).toBe(403);
    expect((await as(tokens.give("mallory"), "GET", "/system/function/pay?namespace=openfaas-fn"))[0]).toBe(404);
    await platform.namespaces.remove("openfaas-fn");
  });

  test("that does not exist is refused as one that does, unless the sender may do something in it", async () => {
    await deploy("dev:pay");
    tokens.allow({ alice: [["Function:*"], ["gone:*"]] });
    const alice = tokens.give("alice");
    const [status, text] = await as(alice, "GET", "/system/function/pay?namespace=dev");
    expect([status, text]).toEqual([403, expect.stringContaining("Function:Get on dev:pay")]);
    expect(await as(alice, "GET", "/system/function/pay?namespace=none")).toEqual([
      403,
      text.replaceAll("dev", "none"),
    ]);
    expect((await as(alice, "GET", "/system/function/pay?namespace=gone"))[0]).toBe(404);
    expect((await as(alice, "GET", "/system/functions?namespace=none"))[0]).toBe(403);
    expect((await as(alice, "GET", "/system/functions?namespace=gone"))[0]).toBe(404);
  });
});

test("only names that the sender may list are suggested", async () => {
  await deploy("dev:payments");
  tokens.allow({ alice: [["Function:Get"], ["dev:*"]] });
  const alice = tokens.give("alice");
  const missing = 'Cannot find function "payment": it does not exist in namespace "dev"';
  expect(await as(alice, "GET", "/system/function/payment?namespace=dev")).toEqual([404, `${missing}\n`]);
  tokens.allow({ alice: [["Function:Get", "Function:List"], ["dev:*"]] });
  expect(await as(alice, "GET", "/system/function/payment?namespace=dev")).toEqual([
    404,
    `${missing}; did you mean "payments"?\n`,
  ]);
});

test("an alert scales nothing unless all functions that it names may be scaled", async () => {
  await deploy("dev:pay", "dev:shop");
  tokens.allow({ monitor: [["Function:Scale"], ["dev:pay"]] });
  const monitor = tokens.give("monitor");
  const alertOf = (...names: readonly string[]) => ({
    alerts: names.map((name) => ({ status: "firing", labels: { function_name: name } })),
  });
  const replicas = () => [...platform.functions.values()].map((desired) => desired.replicas);
  expect(await as(monitor, "POST", "/system/alert", alertOf("pay.dev", "shop.dev"))).toEqual([
    403,
    expect.stringContaining("Function:Scale on dev:shop"),
  ]);
  expect(replicas()).toEqual([1, 1]);
  expect((await as(monitor, "POST", "/system/alert", alertOf("pay.dev")))[0]).toBe(200);
  expect(replicas()).toEqual([5, 1]);
  // Some were scaled, though the response is an error: that is a change.
  tokens.allow({ monitor: [["Function:Scale"], ["dev:*"]] });
  expect((await as(tokens.give("monitor"), "POST", "/system/alert", alertOf("pay.dev", "none.dev")))[0]).toBe(404);
  await eventually(() => changed.length === 2, { what: "the second change" });
  expect(changed.map(({ status, resources }) => [status, resources])).toEqual([
    [200, ["dev:pay"]],
    [404, ["dev:pay", "dev:none"]],
  ]);
});

describe("rules", () => {
  test("that are removed or narrowed count at the next request, though the token still carries the policy", async () => {
    await deploy("dev:pay");
    tokens.allow({ alice: [["Function:Get"], ["dev:*"]] });
    const alice = tokens.give("alice");
    const get = async () => (await as(alice, "GET", "/system/function/pay?namespace=dev"))[0];
    expect(await get()).toBe(200);
    tokens.allow({ alice: [["Function:Get"], ["prod:*"]] });
    expect(await get()).toBe(403);
    tokens.allow({ alice: [["Function:*"], ["*"]] });
    expect(await get()).toBe(200);
    tokens.allow({});
    expect(await get()).toBe(403);
    expect(tokens.verified.filter((token) => alice.endsWith(token))).toHaveLength(1);
  });

  test("that come later need a new token", async () => {
    await deploy("dev:pay");
    tokens.allow({});
    const early = tokens.give("alice");
    tokens.allow({ alice: [["Function:Get"], ["dev:*"]] });
    expect((await as(early, "GET", "/system/function/pay?namespace=dev"))[0]).toBe(403);
    expect((await as(tokens.give("alice"), "GET", "/system/function/pay?namespace=dev"))[0]).toBe(200);
  });

  test("are counted in /system/info, with what is wrong with others", async () => {
    tokens.allow({ alice: [["System:Info"], ["*"]] });
    const [status, text] = await as(tokens.give("alice"), "GET", "/system/info");
    expect([status, JSON.parse(text)]).toEqual([
      200,
      expect.objectContaining({
        iam: { issuer: "https://weir.example", issuers: 1, policies: 1, roles: 1, faults: [] },
      }),
    ]);
  });
});

describe("a simulated decision", () => {
  const simulate = async (body: object) => {
    const [status, text] = await as(platform.authorization, "POST", "/system/iam/simulate", body);
    return status === 200 ? JSON.parse(text) : [status, text];
  };
  const asked = { action: "Function:Delete", resource: "dev:pay" };

  test("says by what it is allowed, or what is missing", async () => {
    tokens.allow({ alice: [["Function:Delete"], ["dev:*"]], trial: [["Function:*"], ["*"]] }, ["trial"]);
    const claims = (sub: string) => ({ sub, iss: "https://issuer.example", aud: "weir" });
    expect(await simulate({ ...asked, claims: claims("alice") })).toEqual({
      allowed: true,
      role: "alice",
      policy: "alice",
      sid: "1",
    });
    expect(await simulate({ ...asked, claims: claims("bob") })).toEqual({ allowed: false, missing: asked });
    expect(await simulate({ ...asked, claims: { ...claims("alice"), iss: "https://other.example" } })).toEqual({
      allowed: false,
      missing: asked,
    });
    expect(await simulate({ ...asked, claims: claims("trial") })).toEqual({
      allowed: false,
      missing: asked,
      reportedBy: "trial",
    });
    expect(await simulate(asked)).toMatchObject({ allowed: true, role: "administrator" });
    expect(changed).toEqual([]);
  });

  test("is that of a token, which may be one for calls only", async () => {
    tokens.allow({ alice: [["Function:*"], ["functions:*"]] });
    const [token = ""] = tokens.give("alice").split(" ").slice(1);
    expect(await simulate({ ...asked, resource: "openfaas-fn:pay", token })).toMatchObject({ allowed: true });
    const scope = { function: { permissions: ["functions:pay"], audience: [] } };
    const [narrow = ""] = tokens.give("alice", { kind: "function", more: scope }).split(" ").slice(1);
    const invoke = { action: "Function:Invoke", resource: "functions:pay", token: narrow };
    expect(await simulate(invoke)).toMatchObject({ allowed: true });
    expect(await simulate({ ...invoke, resource: "functions:pay2" })).toMatchObject({ allowed: false });
    expect(await simulate({ ...invoke, action: "Function:Get" })).toMatchObject({ allowed: false });
  });

  test.each([
    ["an unknown action", { ...asked, action: "Function:Destroy" }],
    ["a pattern of actions", { ...asked, action: "Function:*" }],
    ["a pattern of resources", { ...asked, resource: "d*:pay" }],
    ["a token that is not valid", { ...asked, token: "secret-token" }],
    ["claims and a token", { ...asked, token: "secret-token", claims: {} }],
  ])("is refused for %s, and no token is shown", async (_name, body) => {
    expect(await simulate(body)).toEqual([400, expect.not.stringContaining("secret-token")]);
  });
});

describe("tokens", () => {
  test("that are wrong, or for calls only, are 401, and close the door to nobody who has a good credential", async () => {
    tokens.allow({ alice: [["System:Info"], ["*"]] });
    await using fresh = await openRestPlatform({
      edition: "enterprise",
      tokens: tokens.parts,
      origins: { allowed: new Set(), clients: clientAddresses(["127.0.0.1"]) },
    });
    const from = (client: string, authorization: string) =>
      fresh.call("GET", "/system/info", undefined, { authorization, "x-forwarded-for": client });
    const scope = { function: { permissions: ["*"], audience: [] } };
    const forCalls = tokens.give("alice", { kind: "function", more: scope });
    for (let count = 0; count < 30; count += 1) {
      const response = await from("1.1.1.1", count % 2 === 0 ? "Bearer wrong" : forCalls);
      expect([response.status, await response.text()]).toEqual([401, "invalid credentials"]);
    }
    expect((await from("1.1.1.1", tokens.give("alice"))).status).toBe(200);
    expect((await from("1.1.1.1", fresh.authorization)).status).toBe(200);
    expect((await from("2.2.2.2", tokens.give("alice"))).status).toBe(200);
  });

  test("count for nothing in an address", async () => {
    tokens.allow({ alice: [["System:Info"], ["*"]] });
    const [token = ""] = tokens.give("alice").split(" ").slice(1);
    const response = await fetch(`${platform.url}/system/info?access_token=${token}&token=${token}`);
    expect(response.status).toBe(401);
    expect(JSON.stringify(platform.logged)).not.toContain(token);
  });

  test("end a log stream five minutes after they expired", async () => {
    await deploy("dev:pay");
    tokens.allow({ alice: [["Function:Logs"], ["dev:pay"]] });
    const alice = tokens.give("alice", { expiresAt: Date.now() - 5 * 60_000 + 500 });
    const response = await fetch(`${platform.url}/system/logs?name=pay&namespace=dev&follow=true`, {
      headers: { authorization: alice },
    });
    expect([response.status, await response.text()]).toEqual([200, ""]);
    await eventually(() => platform.logs.readers === 0, { what: "the end of the stream" });
  });
});

test("refusals and changes are observed with who, what, by what and from where", async () => {
  await deploy("dev:pay");
  tokens.allow({ alice: [["Function:Delete"], ["prod:*"]], trial: [["Function:*"], ["*"]] }, ["trial"]);
  const body = { functionName: "pay", namespace: "dev" };
  await as("Bearer wrong", "DELETE", "/system/functions", body);
  await as(tokens.give("alice"), "DELETE", "/system/functions", body);
  await as(tokens.give("trial"), "DELETE", "/system/functions", body);
  await as(platform.authorization, "DELETE", "/system/functions", body);
  await as(platform.authorization, "DELETE", "/system/functions", body);
  await as(platform.authorization, "GET", "/system/functions");
  await eventually(() => refused.length === 3 && changed.length === 1, { what: "what is observed" });
  const shown = ({ principal, requestId, ...access }: ObservedAccess) => {
    expect(requestId).toMatch(/^[0-9a-f-]{36}$/);
    return { ...access, who: principal?.subject };
  };
  const facts = { action: "Function:Delete", address: "127.0.0.1", callId: undefined, by: undefined };
  const denied = { ...facts, resources: ["dev:pay"], status: 403, code: "forbidden", reported: undefined };
  expect(refused.map(shown)).toEqual([
    { ...denied, who: undefined, resources: [], status: 401, code: "credentials_invalid" },
    { ...denied, who: "fed:alice" },
    { ...denied, who: "fed:trial", reported: { role: "trial", policy: "trial", sid: "1" } },
  ]);
  expect(changed.map(shown)).toEqual([
    {
      ...facts,
      who: "admin",
      resources: ["dev:pay"],
      by: { role: "administrator", policy: "*", sid: "*" },
      reported: undefined,
      status: 202,
      code: undefined,
    },
  ]);
});
