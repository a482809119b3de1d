import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";

import type { FunctionStatus } from "../../runtime/api/schemas/function-status.ts";
import { openRestPlatform, type RestPlatform } from "../support/rest-platform.ts";

let platform: RestPlatform;

beforeAll(async () => {
  platform = await openRestPlatform();
});
afterAll(async () => {
  await platform?.[Symbol.asyncDispose]();
});
beforeEach(() => platform.functions.clear());

const hello = { service: "hello", image: "ghcr.io/acme/hello:1" };

test("what GET shows can be edited and sent: fields of the status are ignored", async () => {
  const full = {
    ...hello,
    envProcess: "cat",
    envVars: { exec_timeout: "5s" },
    labels: { team: "a" },
    annotations: { "com.service.retry.attempts": "3" },
    limits: { memory: "128Mi" },
    readOnlyRootFilesystem: true,
  };
  await platform.statusOf("PUT", "/system/functions", full);
  const shown = (await (await platform.call("GET", "/system/function/hello?usage=1")).json()) as FunctionStatus;
  expect(await platform.statusOf("PUT", "/system/functions", { ...shown, image: "hello:2", replicas: 9 })).toBe(202);
  const after = (await (await platform.call("GET", "/system/function/hello")).json()) as FunctionStatus;
  const { conditions: _, usage: __, ...before } = shown;
  expect(after).toMatchObject({ ...before, image: "hello:2", generation: 2 });
  expect(await platform.statusOf("PUT", "/system/functions", { ...after, service: after.name })).toBe(202);
  expect(await platform.refusal("PUT", "/system/functions", { ...after, service: "other" })).toMatchObject({
    status: 400,
    detail: 'Cannot read the body: its "service" is "other", its "name" is "hello"; send one of them',
  });
});

test("a misspelt field or key is refused with the nearest name", async () => {
  const named = async (body: unknown) => {
    const { status, code, detail } = await platform.refusal("PUT", "/system/functions", body);
    expect([status, code]).toEqual([400, "validation_failed"]);
    return detail;
  };
  expect(await named({ ...hello, envvars: {} })).toBe(
    'Cannot read field "envvars": there is no such field; did you mean "envVars"?',
  );
  expect(await named({ ...hello, labels: { "com.service.scale.mim": "2" } })).toContain(
    'did you mean "com.service.scale.min"?',
  );
  expect(await named({ ...hello, annotations: { "com.service.scale.min": "2" } })).toContain(
    "it is a label, not an annotation",
  );
  const theirs = { ...hello, annotations: { "com.openfaas.scale.mim": "2" } };
  expect(await platform.statusOf("PUT", "/system/functions", theirs)).toBe(202);
  expect(await platform.statusOf("DELETE", "/system/functions", { functionName: "hello", unknown: 1 })).toBe(202);
});

test("the 404 of an unknown function has the nearest name of the namespace", async () => {
  await platform.statusOf("PUT", "/system/functions", hello);
  const sentence = 'Cannot find function "helo": it does not exist in namespace "functions"; did you mean "hello"?';
  for (const asked of [
    platform.refusal("GET", "/system/function/helo"),
    platform.refusal("DELETE", "/system/functions", { functionName: "helo" }),
    platform.refusal("POST", "/system/scale-function/helo", { replicas: 1 }),
    platform.refusal("GET", "/system/logs?name=helo"),
  ]) {
    expect(await asked).toEqual({ status: 404, code: "function_not_found", detail: sentence });
  }
});

test("on a namespace every key is stored", async () => {
  await using pro = await openRestPlatform({ edition: "pro" });
  const labels = { "com.service.namespace": "1", "com.service.scale.mim": "2" };
  expect((await pro.call("POST", "/system/namespaces", { name: "dev", labels, colour: "blue" })).status).toBe(201);
  expect(await (await pro.call("GET", "/system/namespace/dev")).json()).toMatchObject({ name: "dev", labels });
});

test("an empty text that a field would refuse is absent, as clients of this API family send it", async () => {
  const sent = {
    ...hello,
    namespace: "",
    envVars: { exec_timeout: "", DEBUG: "" },
    labels: { "com.openfaas.scale.min": "", team: "" },
    annotations: { "com.service.timeout": "" },
    limits: { memory: "128Mi", cpu: "" },
    requests: { memory: "", cpu: "" },
    secrets: [""],
  };
  expect(await platform.statusOf("PUT", "/system/functions?wait=", sent)).toBe(202);
  const shown = (await (await platform.call("GET", "/system/function/hello?namespace=")).json()) as FunctionStatus;
  expect(shown).toMatchObject({ namespace: "functions", envVars: { exec_timeout: "", DEBUG: "" }, annotations: {} });
  expect(shown).toMatchObject({ labels: { team: "" }, limits: { memory: "128Mi" }, requests: {}, secrets: [] });
  expect(shown.labels).not.toHaveProperty("com.openfaas.scale.min");
  const gone = { functionName: "hello", namespace: "" };
  expect(await platform.statusOf("DELETE", "/system/functions", gone)).toBe(202);
});
