import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import { openFunctionServer, type FunctionServer } from "../support/function-server.ts";
import { openPlatform, type Platform } from "../support/platform.ts";

/** A call and a run may last 1 s unless the function sets its own timeout. */
let platform: Platform;
let slow: FunctionServer;
let hanging: FunctionServer;
let silent: FunctionServer;

beforeAll(async () => {
  platform = await openPlatform({
    upstreamTimeout: 1_000,
    slots: 8,
    retryAttempts: 0,
    gatewayFlags: ["--timeout-max=10s", "--stream-idle-timeout=1s"],
    workerFlags: ["--timeout-max=10s"],
  });
  slow = await openFunctionServer((_request, response) => void setTimeout(() => response.end("at last"), 2_000));
  hanging = await openFunctionServer(() => undefined);
  silent = await openFunctionServer((_request, response) => void response.write("begun"));
});
afterAll(async () => {
  await platform?.close();
  await slow?.close();
  await hanging?.close();
  await silent?.close();
});

const timed = (timeout: string) => ({ "com.service.timeout": timeout });
const deploy = (timeout: string, envVars: Record<string, string> = {}) =>
  fetch(`${platform.url}/system/functions`, {
    method: "PUT",
    headers: { authorization: platform.authorization },
    body: JSON.stringify({ service: "timed", image: "none", annotations: timed(timeout), envVars }),
  });

test("with one annotation a slow function can reply, called or queued", async () => {
  await platform.deploy("patient", { addresses: [slow.address], annotations: timed("8s") });
  const id = await platform.calls.accepted("patient");
  const response = await fetch(`${platform.url}/function/patient`);
  expect([response.status, await response.text()]).toEqual([200, "at last"]);
  expect(await platform.calls.ended(id)).toMatchObject({ state: "done", attempts: [{ status: 200 }] });
});

test("without it the same function is too slow", async () => {
  await platform.deploy("hurried", { addresses: [slow.address] });
  const id = await platform.calls.accepted("hurried");
  const response = await fetch(`${platform.url}/function/hurried`);
  expect([response.status, await response.text()]).toEqual([
    504,
    'Cannot call function "hurried.functions": no reply within upstream_timeout of 1 s\n',
  ]);
  expect(await platform.calls.ended(id)).toMatchObject({ state: "failed", attempts: [{ status: 504 }] });
});

test.each([
  // com.service.timeout, the limit of a call and of a run; seconds.
  ["2s", 2, 2],
  ["500ms", 0.5, 1],
])("with com.service.timeout %s a call ends after %d s, a queued run after %d s", async (text, call, run) => {
  const service = `for-${text}`;
  await platform.deploy(service, { addresses: [hanging.address], annotations: timed(text) });
  const id = await platform.calls.accepted(service);
  const response = await fetch(`${platform.url}/function/${service}`);
  expect(response.status).toBe(504);
  expect(await response.text()).toContain(`no reply within com.service.timeout of ${call} s`);

  const record = await platform.calls.ended(id);
  expect(record).toMatchObject({ state: "failed", attempts: [{ status: 504 }] });
  expect(record.attempts[0]?.durationSeconds).toBeGreaterThan(run - 0.05);
  expect(record.attempts[0]?.durationSeconds).toBeLessThan(run + 3);
});

test("an idle reply is aborted: logged with the reason, counted, and the client's body is incomplete", async () => {
  await platform.deploy("silent", { addresses: [silent.address], annotations: timed("2s") });
  const response = await fetch(`${platform.url}/function/silent`);
  expect(response.status).toBe(200);
  await expect(response.text()).rejects.toThrow("terminated");
  const cut = () => platform.gateway.log.find(({ msg }) => msg === "call was cut");
  await eventually(cut, { what: "the line of the log" });
  expect(cut()).toMatchObject({
    callId: response.headers.get("x-call-id"),
    functionName: "silent",
    namespace: "functions",
    reason: "idle",
    bytesOut: 5,
  });
  expect(await platform.metric(platform.gateway, "gateway_calls_cut_total", { reason: "idle" })).toBe(1);
});

test("a timeout that is too long or invalid is refused with an explanation", async () => {
  const long = await deploy("10001ms");
  expect(long.status).toBe(400);
  expect(await long.text()).toBe(
    'Cannot deploy function "timed": com.service.timeout 10s1ms is above timeout_max (10s), a setting of the gateway\n',
  );
  const none = await deploy("soon");
  expect(none.status).toBe(400);
  expect(await none.text()).toBe(
    'Cannot read annotation "com.service.timeout": expected a duration from 100ms to timeout_max, got "soon"\n',
  );
  expect((await deploy("10s")).status).toBe(202);
});

test("exec_timeout may be as long as the function's own timeout, and no longer", async () => {
  expect((await deploy("9s", { exec_timeout: "9s" })).status).toBe(202);
  const refused = await deploy("9s", { exec_timeout: "9001ms" });
  expect(refused.status).toBe(400);
  expect(await refused.text()).toBe(
    'Cannot deploy function "timed": exec_timeout 9s1ms is above com.service.timeout (9s) and the timeout of queue "default" (1s); set annotation com.service.timeout to 9s1ms or more\n',
  );
});

test("a gateway that stops with a stream open aborts it after drain_timeout, and exits with 0", async () => {
  const opened = await openPlatform({ drainTimeout: 1_000 });
  onTestFinished(() => opened.close());
  await opened.deploy("silent", { addresses: [silent.address] });
  const response = await fetch(`${opened.url}/function/silent`);
  const text = expect(response.text()).rejects.toThrow("terminated");
  const { gateway } = opened;
  const ended = await gateway.stop();
  expect(ended.code).toBe(0);
  await text;
  expect(gateway.log.filter(({ msg }) => msg === "call was cut")).toMatchObject([{ reason: "draining", bytesOut: 5 }]);
});
