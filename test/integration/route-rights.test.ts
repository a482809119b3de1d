import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";

import { policyActions } from "../../runtime/api/resources/iam-resources.ts";
import { eventStreamType } from "../../runtime/core/watch/event-text.ts";
import { restRoutes } from "../../runtime/gateway/rest/route-table.ts";
import type { RouteEntry } from "../../runtime/gateway/rest/route.ts";
import { sampleCall, sampleEntry } from "../contract/samples.ts";
import { FakeTokens } from "../support/fake-tokens.ts";
import { memoryQueues } from "../support/memory-queues.ts";
import { MemoryCallHistory } from "../support/memory/memory-call-history.ts";
import { notEmpty } from "../support/not-empty.ts";
import { openRestPlatform, type RestPlatform } from "../support/rest-platform.ts";

/** The route-table walk with tokens: every route that needs an action, with that action only and with all others. */
let platform: RestPlatform;
const tokens = new FakeTokens();

beforeAll(async () => {
  const kept = new MemoryCallHistory();
  const queueParts = memoryQueues();
  platform = await openRestPlatform({
    edition: "enterprise",
    tokens: tokens.parts,
    queueParts,
    history: {
      reads: kept,
      progress: async () => ({ lagSeconds: 0, complete: true, gaps: [] }),
      remove: (id) => kept.remove(id),
    },
  });
  const call = sampleCall({ id: callId, function: { namespace: "dev", name: "pay" } });
  const ended = sampleEntry({ state: "done", status: 200, ended: Date.now() }, call);
  const { kind } = await queueParts.ledger.create(callId, ended, performance.now() + 10_000);
  expect(kind).toBe("created");
});
afterAll(async () => {
  await platform?.[Symbol.asyncDispose]();
});
beforeEach(async () => {
  platform.functions.clear();
  platform.secrets.clear();
  const labels = { "com.service.namespace": "1" };
  const dev = { name: "dev", labels, annotations: {}, createdAt: "2026-01-01T00:00:00Z", deleting: false };
  await platform.namespaces.write("dev", () => dev);
  expect(await platform.statusOf("PUT", "/system/functions", pay)).toBe(202);
  expect(await platform.statusOf("POST", "/system/secrets", secret)).toBe(201);
});

const pay = { service: "pay", image: "acme/pay:1", namespace: "dev" };
const secret = { name: "key", value: "s3cret", namespace: "dev" };
const inDev = "namespace=dev";
/** A call of `pay` that has ended; its record is kept. */
const callId = "7f3c1d52-5c0e-4d7b-9a53-0f5d2f4f2f10";

/** A valid request for each route: what to add to its path, and its body. */
const requests: Readonly<Record<string, { readonly query?: string; readonly body?: unknown }>> = {
  createFunction: { body: pay },
  replaceFunction: { body: pay },
  deleteFunction: { body: { functionName: "pay", namespace: "dev" } },
  listFunctions: { query: inDev },
  getFunction: { query: inDev },
  scaleFunction: { query: inDev, body: { replicas: 2 } },
  readLogs: { query: `name=pay&${inDev}&follow=false` },
  createSecret: { body: { ...secret, name: "other" } },
  replaceSecret: { body: secret },
  listSecrets: { query: inDev },
  deleteSecret: { body: { name: "key", namespace: "dev" } },
  createNamespace: { body: { name: "dev" } },
  replaceNamespace: { body: { name: "dev" } },
  deleteNamespace: { body: { name: "dev" } },
  createNamespaceByName: { body: { name: "dev" } },
  replaceNamespaceByName: { body: { name: "dev" } },
  deleteNamespaceByName: {},
  receiveAlert: { body: { alerts: [{ status: "resolved", labels: { function_name: "pay.dev" } }] } },
  listCalls: { query: inDev },
  readRollups: { query: inDev },
  endSessions: { body: { subject: "fed:alice" } },
  simulateAccess: { body: { action: "Function:Get", resource: "dev:pay" } },
};

const guarded = notEmpty(
  restRoutes(true).filter(({ needs }) => needs.includes(":")),
  "route that needs an action",
);

function targetOf({ id, path }: RouteEntry): string {
  const { query } = requests[id] ?? {};
  const filled = path
    .replace(":callId", callId)
    .replace(":queue", "default")
    .replace(":namespace", "dev")
    .replace(":name", "pay");
  return query === undefined ? filled : `${filled}?${query}`;
}

function send(entry: RouteEntry, authorization: string): Promise<Response> {
  return platform.call(entry.method, targetOf(entry), requests[entry.id]?.body, { authorization });
}

/** The body of a response; of a stream that does not end, its first part. */
async function textOf(response: Response): Promise<string> {
  if (response.headers.get("content-type") !== eventStreamType) return response.text();
  const reader = response.body?.getReader();
  const { value = new Uint8Array() } = (await reader?.read()) ?? {};
  await reader?.cancel();
  return Buffer.from(value).toString();
}

/** What the request of a route concerns. */
function resourceOf({ needs, id }: RouteEntry): string {
  const [kind = ""] = needs.split(":");
  if (kind === "Function" || kind === "Call") return "dev:pay";
  return (kind === "Secret" || kind === "Namespace") && id !== "getNoNamespace" ? "dev:*" : "*";
}

const single = policyActions.filter((action) => !action.includes("*"));

test("every action of a route is one that a policy can allow", () => {
  expect(guarded.map(({ needs }) => needs).filter((needs) => !single.includes(needs))).toEqual([]);
});

describe.each(guarded.map((entry) => [entry.id, entry] as const))("%s", (_id, entry) => {
  const { needs, orNeeds } = entry;
  const resource = resourceOf(entry);

  test(`is permitted by ${needs} on ${resource} alone`, async () => {
    tokens.allow({ exact: [[needs], [resource]] });
    const response = await send(entry, tokens.give("exact"));
    const seen = `${response.status} ${await textOf(response)}`;
    expect([401, 403, 405, 500], seen).not.toContain(response.status);
    expect(seen).not.toContain("Cannot find route");
  });

  test("is refused with every other action", async () => {
    tokens.allow({ others: [single.filter((action) => action !== needs && action !== orNeeds), ["*"]] });
    const response = await send(entry, tokens.give("others"));
    const text = await response.text();
    expect([response.status, text]).toEqual([
      403,
      expect.stringMatching(/^Cannot .*: fed:others \(https:.*\) has no policy that allows /),
    ]);
    expect(text).toContain(` has no policy that allows ${needs} on `);
  });

  test("is refused with its action on something else, or by a role that only reports", async () => {
    const elsewhere = resource === "*" ? ["dev:*"] : ["dev2:*", "de:*", "functions:*", "dev:pay2", "dev:pa"];
    // Namespaces are listed as far as they are permitted, and the default one is.
    if (entry.id === "listNamespaces") elsewhere.splice(2, 1);
    // Whoever may list anything of a namespace gets a list without the rest.
    if (["listFunctions", "listCalls", "readRollups"].includes(entry.id)) elsewhere.splice(3);
    // A call that the sender may not see is like one that does not exist.
    const unseen = entry.path.startsWith("/system/calls/:callId") ? 404 : 403;
    tokens.allow({ elsewhere: [[needs], elsewhere], reported: [[needs], ["*"]] }, ["reported"]);
    for (const [subject, status] of [
      ["elsewhere", unseen],
      ["reported", 403],
    ] as const) {
      const response = await send(entry, tokens.give(subject));
      expect([subject, response.status, await response.text()]).toEqual([subject, status, expect.any(String)]);
    }
  });
});

test("GET /system/iam/whoami is for any valid token", async () => {
  tokens.allow({ alice: [["Function:List"], ["dev:*"]] });
  const response = await platform.call("GET", "/system/iam/whoami", undefined, { authorization: tokens.give("alice") });
  expect([response.status, await response.json()]).toEqual([
    200,
    {
      subject: "fed:alice",
      issuer: "https://issuer.example",
      via: "token",
      administrator: false,
      policies: ["alice"],
      expiresAt: expect.stringMatching(/^20.*Z$/),
    },
  ]);
  expect(await (await platform.call("GET", "/system/iam/whoami")).json()).toEqual({
    subject: "admin",
    via: "basic",
    administrator: true,
    policies: [],
  });
});
