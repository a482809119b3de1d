import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { sendVerbatim } from "../support/verbatim-request.ts";
import { openRestPlatform, type RestPlatform } from "../support/rest-platform.ts";

/** `security.md` §3: refused wherever a name is read. */
const badNames = [
  "../x",
  "",
  "a/b",
  "a\\b",
  "a%2fb",
  "a\0b",
  "-rf",
  "a".repeat(254),
  "A",
  "é",
  "a.b.c",
  "__proto__",
  "*",
  "q.>",
  "$JS.API",
];

const hello = { service: "hello", image: "hello:1" };

interface Entrance {
  readonly request: string;
  readonly body: (name: string) => unknown;
  /** Names that are valid here; an empty one is absent where none is needed. */
  readonly fine?: readonly string[];
}

const inBodies: readonly Entrance[] = [
  { request: "PUT /system/functions", body: (service) => ({ ...hello, service }) },
  { request: "PUT /system/functions", body: (namespace) => ({ ...hello, namespace }), fine: [""] },
  {
    request: "PUT /system/functions",
    body: (name) => ({ ...hello, annotations: { "com.service.queue": name } }),
    fine: [""],
  },
  { request: "PUT /system/functions", body: (name) => ({ ...hello, secrets: [name] }), fine: [""] },
  { request: "DELETE /system/functions", body: (functionName) => ({ functionName }) },
  { request: "DELETE /system/functions", body: (namespace) => ({ functionName: "there", namespace }), fine: [""] },
  { request: "POST /system/scale-function/there", body: (namespace) => ({ replicas: 1, namespace }), fine: [""] },
  { request: "POST /system/secrets", body: (name) => ({ name, value: "x" }), fine: ["a.b.c"] },
  { request: "PUT /system/secrets", body: (namespace) => ({ name: "fine", value: "x", namespace }), fine: [""] },
  { request: "DELETE /system/secrets", body: (name) => ({ name }), fine: ["a.b.c"] },
  { request: "POST /system/namespaces", body: (name) => ({ name }) },
  {
    request: "POST /system/alert",
    body: (name) => ({ alerts: [{ status: "firing", labels: { function_name: name } }] }),
  },
];
/** An empty parameter names nothing. */
const inQueries: readonly Omit<Entrance, "body">[] = [
  { request: "GET /system/functions?namespace=", fine: [""] },
  { request: "GET /system/function/there?namespace=", fine: [""] },
  { request: "GET /system/secrets?namespace=", fine: [""] },
  { request: "GET /system/logs?name=" },
  { request: "GET /system/logs?name=there&namespace=", fine: [""] },
];

let platform: RestPlatform;

beforeAll(async () => {
  platform = await openRestPlatform({ edition: "pro" });
  await platform.call("PUT", "/system/functions", { ...hello, service: "there" });
});
afterAll(async () => {
  await platform?.[Symbol.asyncDispose]();
});

const refused = { status: 400, code: "validation_failed" };

describe.each(badNames)("the name %j is refused", (name) => {
  const isRefused = ({ fine }: Pick<Entrance, "fine">): boolean => fine?.includes(name) !== true;

  test.each(inBodies.filter(isRefused))("in a body: $request", async ({ request, body }) => {
    const [method = "", target = ""] = request.split(" ");
    const problem = await platform.refusal(method, target, body(name));
    expect(problem, JSON.stringify(body(name))).toMatchObject(refused);
  });

  test.each(inQueries.filter(isRefused))("in a query: $request", async ({ request }) => {
    const [method = "", target = ""] = request.split(" ");
    expect(await platform.refusal(method, target + encodeURIComponent(name))).toMatchObject(refused);
  });

  test("in a path", async () => {
    const headers = ["Authorization", platform.authorization, "Accept", "application/json"];
    for (const text of new Set([encodeURIComponent(name), name.replaceAll(/[^!-~]/g, "")])) {
      const inNamespaces = await sendVerbatim(platform.port, { target: `/system/namespace/${text}`, headers });
      const inFunctions = await sendVerbatim(platform.port, { target: `/system/function/${text}`, headers });
      for (const response of [inNamespaces, inFunctions])
        expect([400, 404], `${text}: ${await response.text()}`).toContain(response.status);
    }
  });
});
