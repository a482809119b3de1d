import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { routeTable } from "../../runtime/gateway/rest/route-table.ts";
import type { WatchEventName } from "../../runtime/api/schemas/watch-events.ts";
import { checkAnswer, operationFor, pointerTo, schemaFindings } from "../support/api-answers.ts";
import { eventually } from "../support/eventually.ts";
import { openFunctionServer, type FunctionServer } from "../support/function-server.ts";
import { openPlatform, type Platform } from "../support/platform.ts";
import { EventClient } from "../support/watch/event-client.ts";

/** Each operation of the OpenAPI document on a real gateway, good and bad: the document describes every response. */
let platform: Platform;
let echo: FunctionServer;
let ended = "";
let running = "";
const unknown = "7f3c1d52-5c0e-4d7b-9a53-0f5d2f4f2f10";
const called = new Set<string>();
const release: (() => void)[] = [];

beforeAll(async () => {
  platform = await openPlatform({ gatewayFlags: ["--edition", "enterprise"] });
  echo = await openFunctionServer((request, response, body) => {
    if (request.url === "/wait") release.push(() => response.end());
    else response.end(body);
  });
  await platform.deploy("echo", { addresses: [echo.address] });
  ended = await platform.calls.accepted("echo", { body: "hi" });
  await platform.calls.ended(ended);
  running = await platform.calls.accepted("echo", { tail: "/wait" });
  await platform.calls.until(running, ["running"]);
});
afterAll(async () => {
  for (const end of release) end();
  await platform?.close();
  await echo?.close();
});

const hello = { service: "hello", image: "hello:1" };
const form = { "content-type": "application/x-www-form-urlencoded" };

type Step = readonly [method: string, target: string, status: number, body?: unknown, headers?: Record<string, string>];

const steps: readonly Step[] = [
  ["POST", "/system/functions", 202, hello],
  ["POST", "/system/functions", 409, hello],
  ["POST", "/system/functions", 400, { service: "Hello", image: "a" }],
  ["POST", "/system/functions", 403, { ...hello, namespace: "kube-system" }],
  ["POST", "/system/functions", 415, hello, { "content-encoding": "gzip" }],
  ["POST", "/system/functions", 413, "x".repeat(2_097_153)],
  ["POST", "/system/functions", 202, { ...hello, service: "h2", annotations: { "com.service.protocol": "h2c" } }],
  ["DELETE", "/system/functions", 202, { functionName: "h2" }],
  ["PUT", "/system/functions", 202, hello],
  ["PUT", "/system/functions", 403, hello, { origin: "https://evil.example" }],
  ["GET", "/system/functions", 200],
  ["HEAD", "/system/functions", 200],
  ["GET", "/system/functions?namespace=nope", 404],
  ["GET", "/system/functions", 401, undefined, { authorization: "" }],
  ["GET", "/system/function/hello?usage=1", 200],
  ["GET", "/system/function/nobody", 404],
  ["POST", "/system/scale-function/hello", 202, { replicas: 2 }],
  ["POST", "/system/scale-function/hello", 400, { replicas: "2" }],
  ["DELETE", "/system/functions", 202, { functionName: "hello" }],
  ["DELETE", "/system/functions", 404, { functionName: "hello" }],

  ["GET", "/function/echo", 200],
  ["HEAD", "/function/echo", 200],
  ["POST", "/function/echo", 200, "hi"],
  ["PUT", "/function/echo", 200, "hi"],
  ["PATCH", "/function/echo", 200, "hi"],
  ["DELETE", "/function/echo", 200],
  ["OPTIONS", "/function/echo", 200],
  ["GET", "/function/nobody", 404],
  ["GET", "/function/echo/a%2Fb/c", 200],
  ["HEAD", "/function/echo/a", 200],
  ["POST", "/function/echo/a?x=1", 200, "hi"],
  ["PUT", "/function/echo/a", 200, "hi"],
  ["PATCH", "/function/echo/a", 200, "hi"],
  ["DELETE", "/function/echo/a", 200],
  ["OPTIONS", "/function/echo/a", 200],

  ["POST", "/async-function/echo", 202, "hi"],
  ["POST", "/async-function/echo", 400, "hi", { "x-callback-url": "ftp://x" }],
  ["POST", "/async-function/echo", 413, "x".repeat(1_048_577)],
  ["POST", "/async-function/nobody", 404, "hi"],
  ["POST", "/async-function/echo/a/b", 202, "hi"],
  ["GET", "/async-function/ENDED?wait=30s", 200],
  ["GET", "/async-function/RUNNING", 200],
  ["GET", "/async-function/ENDED?wait=soon", 400],
  ["GET", `/async-function/${unknown}`, 404],
  ["GET", "/async-function/echo", 400],
  ["GET", "/async-function/ENDED/result", 200],
  ["GET", "/async-function/RUNNING/result", 409],
  ["GET", `/async-function/${unknown}/result`, 404],
  ["DELETE", "/async-function/ENDED", 409],
  ["DELETE", "/async-function/word", 400],
  ["DELETE", "/async-function/nobody/RUNNING", 404],
  ["DELETE", "/async-function/echo/RUNNING", 202],
  ["DELETE", "/async-function/RUNNING", 202],

  ["GET", "/system/logs?name=echo&tail=5", 200],
  ["GET", "/system/logs", 400],
  ["GET", "/system/logs?name=nobody", 404],
  ["GET", "/system/logs?name=echo&tail=abc", 422],

  ["POST", "/system/secrets", 201, { name: "api-key", value: "s3cret" }],
  ["POST", "/system/secrets", 409, { name: "api-key", value: "s3cret" }],
  ["POST", "/system/secrets", 413, { name: "big", value: "x".repeat(1_048_577) }],
  ["PUT", "/system/secrets", 202, { name: "api-key", rawValue: "AAEC/w==" }],
  ["PUT", "/system/secrets", 404, { name: "other", value: "x" }],
  ["GET", "/system/secrets", 200],
  ["DELETE", "/system/secrets", 202, { name: "api-key" }],
  ["DELETE", "/system/secrets", 404, { name: "api-key" }],

  ["POST", "/system/namespaces", 201, { name: "dev" }],
  ["POST", "/system/namespaces", 409, { name: "dev" }],
  ["POST", "/system/namespace/test", 201, { name: "test" }],
  ["POST", "/system/namespace/test", 400, { name: "other" }],
  ["GET", "/system/namespaces", 200],
  ["GET", "/system/namespace/dev", 200],
  ["GET", "/system/namespaces/nope/", 404],
  ["PUT", "/system/namespaces", 202, { name: "dev", labels: { team: "a" } }],
  ["PUT", "/system/namespace/dev", 202, { name: "dev" }],
  ["PUT", "/system/namespace/nope", 404, { name: "nope" }],
  ["DELETE", "/system/namespaces", 202, { name: "dev" }],
  ["DELETE", "/system/namespace/test", 202],
  ["DELETE", "/system/namespace/functions", 403],

  ["GET", "/system/queues", 200],
  ["GET", "/system/queue/default", 200],
  ["GET", "/system/queue/default/dead-letters", 200],
  ["POST", `/system/queue/default/dead-letters/${unknown}/redrive`, 404],
  ["DELETE", `/system/queue/default/dead-letters/${unknown}`, 404],

  ["GET", "/system/calls", 404],
  ["GET", "/system/calls?limit=0", 400],
  ["GET", "/system/calls/ENDED", 404],
  ["GET", "/system/calls/ENDED/logs", 404],
  ["GET", "/system/calls/ENDED/request", 404],
  ["POST", "/system/calls/ENDED/replay", 404],
  ["POST", "/system/calls/ENDED/replay", 400, { headers: ["Host", "example.com"] }],
  ["DELETE", "/system/calls/ENDED", 404],
  ["GET", "/system/rollups", 404],
  ["GET", "/system/rollups?step=7s", 400],

  ["GET", "/system/watch?on=nope", 400],
  ["GET", "/system/watch", 401, undefined, { authorization: "" }],

  ["GET", "/system/info", 200],
  ["GET", "/system/doctor", 200],
  ["GET", "/healthz", 200],
  ["HEAD", "/healthz", 200],
  ["GET", "/openapi.json", 200],
  ["HEAD", "/openapi.json", 200],
  ["GET", "/openapi.yaml", 200],
  ["POST", "/system/alert", 200, { alerts: [{ status: "firing", labels: { function_name: "echo.functions" } }] }],
  ["POST", "/system/alert", 404, { alerts: [{ status: "firing", labels: { function_name: "nobody" } }] }],
  ["GET", "/", 200],
  ["HEAD", "/", 200],

  ["GET", "/system/iam/whoami", 200],
  ["POST", "/system/iam/simulate", 200, { action: "Function:Delete", resource: "dev:pay" }],
  ["GET", "/system/audit", 200],
  // This gateway has no console.
  ["GET", "/system/sessions", 200],
  ["DELETE", "/system/sessions", 200, { subject: "fed:alice" }],
  ["DELETE", "/system/sessions", 400, {}],
  ["GET", "/.well-known/weir-callback-keys", 200],
  ["POST", "/oauth/token", 501, "grant_type=x", form],
  ["GET", "/.well-known/openid-configuration", 501],
  ["GET", "/.well-known/jwks.json", 501],
];

const accepts = [undefined, "application/json"];

describe("the document describes the response to", () => {
  test.each(steps.map((step) => [`${step[0]} ${step[1]}: ${step[2]}`, step] as const))("%s", async (_name, step) => {
    const [method, pattern, status, body, headers = {}] = step;
    const target = pattern.replace("ENDED", ended).replace("RUNNING", running);
    // An error is requested twice: as text and as a problem.
    for (const accept of status < 400 ? accepts.slice(0, 1) : accepts) {
      const response = await fetch(platform.url + target, {
        method,
        redirect: "manual",
        headers: { authorization: platform.authorization, ...(accept === undefined ? {} : { accept }), ...headers },
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      await checkAnswer(method, target, response);
      expect([response.status, await response.text()]).toEqual([status, expect.anything()]);
      const entry = operationFor(method, target);
      if (entry !== undefined) called.add(entry.id);
    }
  });

  test("GET /system/watch: 200, with the events that the document lists", async () => {
    const target = "/system/watch?on=functions,function:functions:echo,queues,calls,log:functions:echo,doctor";
    const { authorization } = platform;
    await checkAnswer("GET", target, await fetch(platform.url + target, { headers: { authorization } }));
    using stream = await EventClient.open(platform.port, new URLSearchParams(target.split("?")[1]).get("on") ?? "", {
      authorization,
    });
    stream.read();
    const names: Readonly<Partial<Record<WatchEventName, string>>> = {
      hello: "WatchHello",
      functions: "FunctionsEvent",
      function: "FunctionEvent",
      queues: "QueuesEvent",
      log: "LogEvent",
      doctor: "DoctorEvent",
      // This platform has no history.
      fault: "WatchFault",
    };
    for (const [name, schema] of Object.entries(names)) {
      const data = await eventually(() => stream.events.find((event) => event.name === name)?.data, { what: name });
      expect([name, schemaFindings(pointerTo("components", "schemas", schema), data)]).toEqual([name, []]);
    }
    called.add("watchPlatform");
  });

  test("and every operation was called", () => {
    const documented = routeTable.filter((entry) => entry.documented !== false).map(({ id }) => id);
    expect(documented.filter((id) => !called.has(id))).toEqual([]);
  });
});

test("OPTIONS of a call's path lists its methods", async () => {
  const allowOf = async (path: string) => {
    const response = await fetch(`${platform.url}${path}`, { method: "OPTIONS" });
    await response.arrayBuffer();
    return response.headers.get("allow");
  };
  for (const path of [ended, `${ended}/result`, "echo"]) {
    expect(await allowOf(`/async-function/${path}`)).toBe("POST, GET, HEAD, DELETE");
  }
});

test("the served document is the committed one, and anyone may read it", async () => {
  const response = await fetch(`${platform.url}/openapi.json`);
  expect(response.headers.get("content-type")).toMatch(/^application\/json/);
  const committed: unknown = (await import("../../openapi.json", { with: { type: "json" } })).default;
  expect(await response.json()).toEqual(committed);
});
