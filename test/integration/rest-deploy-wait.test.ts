import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";

import { functionConditions, type ConditionFacts } from "../../runtime/core/functions/conditions.ts";
import { eventually } from "../support/eventually.ts";
import { openRestPlatform, type RestPlatform } from "../support/rest-platform.ts";

let platform: RestPlatform;

beforeAll(async () => {
  platform = await openRestPlatform();
});
afterAll(async () => {
  await platform?.[Symbol.asyncDispose]();
});
beforeEach(() => {
  platform.functions.clear();
  platform.endpoints.clear();
  platform.logs.records.length = 0;
});

const hello = { service: "hello", image: "ghcr.io/acme/hello:1" };
const ended = { reason: "Error", message: "Replica hello-2 ended with code 3" };
const settled: ConditionFacts = {
  wanted: 1,
  ready: 1,
  readyCurrent: 1,
  existing: 1,
  superseded: 0,
  backoff: undefined,
  blocked: undefined,
};

/** Publishes what the provider says of a generation. */
function report(facts: Partial<ConditionFacts>, observedGeneration: number): void {
  const conditions = functionConditions({ ...settled, ...facts }, [], "2026-01-01T00:00:00.000Z");
  const addresses = (facts.ready ?? settled.ready) > 0 ? ["127.0.0.1:1"] : [];
  platform.publish({ name: "hello", namespace: "functions", addresses, observedGeneration, conditions });
}
const waited = () => eventually(() => platform.waiting() === 1, { what: "the request to wait" });

test.each(["POST", "PUT"])("%s with wait returns when this generation is ready, and not before", async (method) => {
  if (method === "PUT") await (await platform.call("PUT", "/system/functions", hello)).arrayBuffer();
  const generation = method === "PUT" ? 2 : 1;
  report({}, generation - 1);
  let returned = false;
  const response = platform.call(method, "/system/functions?wait=1m", hello);
  void response.then(() => (returned = true));
  await waited();
  report({ readyCurrent: 0, existing: 2, superseded: 1 }, generation);
  expect([platform.waiting(), returned]).toEqual([1, false]);
  report({ existing: 2, superseded: 1 }, generation);
  const { status } = await response;
  expect(status).toBe(202);
  expect(platform.waiting()).toBe(0);
});

test("a deployment that fails is 409 with the reason and its last lines, is stored, and is logged", async () => {
  await (await platform.call("PUT", "/system/functions", hello)).arrayBuffer();
  const place = { name: "hello", namespace: "functions", instance: "hello-2", timestamp: "2026-01-01T00:00:00Z" };
  platform.logs.add({ ...place, text: "cannot find module x\n" });
  platform.logs.add({ ...place, timestamp: "2026-01-01T00:00:01Z", text: "goodbye\n" });
  const headers = { accept: "application/json" };
  const response = platform.call("PUT", "/system/functions?wait=1m", hello, headers);
  await waited();
  report({ readyCurrent: 0, superseded: 1, backoff: { failures: 2, until: 0, last: ended } }, 2);
  const problem = JSON.parse(await (await response).text());
  expect(problem).toMatchObject({
    status: 409,
    code: "not_ready",
    detail:
      'Cannot get function "hello" ready: Replica hello-2 ended with code 3 ' +
      "(calls are still served by the deployment before)\nIts last lines:\ncannot find module x\ngoodbye",
  });
  expect(platform.functions.get("hello.functions")?.generation).toBe(2);
  expect(platform.logged).toContainEqual(
    expect.objectContaining({
      level: 40,
      msg: "deployment is not ready",
      functionName: "hello",
      reason: ended.message,
    }),
  );
  const [shown] = JSON.parse(await (await platform.call("GET", "/system/functions")).text());
  expect(shown.conditions).toContainEqual(
    expect.objectContaining({ type: "Stalled", status: "True", message: ended.message }),
  );
  expect(shown.conditions).toContainEqual(
    expect.objectContaining({
      type: "Ready",
      status: "True",
      message: `1 of 1 replicas is ready, of the previous deployment: ${ended.message}`,
    }),
  );
});

test("a deployment that is not ready in time is 409 with what is known of it", async () => {
  const response = await platform.call("PUT", "/system/functions?wait=20ms", hello);
  const sentence = 'Cannot get function "hello" ready in 20ms: The provider has not yet acted on it\n';
  expect([response.status, await response.text()]).toEqual([409, sentence]);
});

test.each(["soon", "301", "6m", "-1s", "1h"])("wait=%s is 400, and nothing is stored", async (wait) => {
  for (const method of ["PUT", "POST"]) {
    const response = await platform.call(method, `/system/functions?wait=${wait}`, hello);
    const sentence = `Cannot wait "${wait}": expected a duration such as 30s, at most 5m\n`;
    expect([response.status, await response.text()]).toEqual([400, sentence]);
  }
  expect(platform.functions.size).toBe(0);
});

test.each(["", "0", "0s"])("wait=%s does not wait", async (wait) => {
  const response = await platform.call("PUT", `/system/functions?wait=${wait}`, hello);
  expect(response.status).toBe(202);
});

test("a client that leaves ends the wait", async () => {
  const leaving = new AbortController();
  const { authorization } = platform;
  const init = { method: "PUT", headers: { authorization }, body: JSON.stringify(hello), signal: leaving.signal };
  const response = fetch(`${platform.url}/system/functions?wait=5m`, init);
  await waited();
  leaving.abort();
  await expect(response).rejects.toThrow(/abort/i);
  await eventually(() => platform.waiting() === 0, { what: "the end of the wait" });
  expect(platform.functions.get("hello.functions")?.generation).toBe(1);
});

test("a deployment that is replaced meanwhile ends the wait", async () => {
  const first = platform.call("PUT", "/system/functions?wait=1m", hello);
  await waited();
  await (await platform.call("PUT", "/system/functions", hello)).arrayBuffer();
  report({ readyCurrent: 0, existing: 2, superseded: 1 }, 2);
  const response = await first;
  expect([response.status, await response.text()]).toEqual([
    409,
    expect.stringContaining('Cannot get function "hello" ready: it was deployed again meanwhile'),
  ]);
});

test("a gateway that stops ends all waits", async () => {
  await using other = await openRestPlatform();
  const response = other.call("PUT", "/system/functions?wait=5m", hello);
  await eventually(() => other.waiting() === 1, { what: "the request to wait" });
  const closing = other[Symbol.asyncDispose]();
  expect((await response).status).toBe(409);
  await closing;
});
