import { afterAll, beforeAll, expect, test } from "vitest";

import type { FunctionStatus } from "../../runtime/api/schemas/function-status.ts";
import { eventually } from "../support/eventually.ts";
import { steadyCalls } from "../support/steady-calls.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";
import { startWeir, type WeirProcess } from "../support/weir-process.ts";

/** Scaling on a Weir started as a person starts it. */
let data: TempDirectory;
let weir: WeirProcess;

beforeAll(async () => {
  data = await tempDirectory("scaling");
  const flags = ["--scale-period", "500ms", "--scale-window", "2s", "--scale-hold", "8s", "--log-level", "info"];
  weir = await startWeir({ data: data.path, flags });
});
afterAll(async () => {
  await weir?.stop();
  await data?.remove();
});

const program =
  'require("node:http").createServer((q, r) => setTimeout(() => r.end("hello"), 5)).listen(process.env.PORT, "127.0.0.1")';
const server = { image: "none", envProcess: `node -e '${program}'`, envVars: { mode: "http" } };
const zeroLabels = { "com.service.scale.zero": "true", "com.service.scale.zero-duration": "10s" };

async function deploy(service: string, labels: Record<string, string>): Promise<void> {
  const response = await fetch(`${weir.url}/system/functions`, {
    method: "PUT",
    headers: { authorization: weir.authorization },
    body: JSON.stringify({ service, ...server, labels }),
  });
  expect(response.status).toBe(202);
  await shows(service, ({ availableReplicas }) => availableReplicas > 0);
}
async function show(name: string): Promise<FunctionStatus> {
  const headers = { authorization: weir.authorization };
  return (await fetch(`${weir.url}/system/function/${name}`, { headers })).json() as Promise<FunctionStatus>;
}
const shows = (name: string, condition: (status: FunctionStatus) => boolean) =>
  eventually(
    async () => {
      const status = await show(name);
      return condition(status) ? status : undefined;
    },
    { what: `the expected status of ${name}` },
  );
const scalingOf = ({ conditions }: FunctionStatus) => conditions.find(({ type }) => type === "Scaling");

test("an idle function is scaled to zero, and woken by a synchronous and by a queued call", async () => {
  await deploy("sleeper", zeroLabels);
  await deploy("awake", zeroLabels);
  const from = performance.now();
  const enough = new AbortController();
  const calls = steadyCalls({ urls: [`${weir.url}/function/awake`], rate: 1, signal: enough.signal });
  const atZero = ({ replicas, availableReplicas }: FunctionStatus): boolean =>
    replicas === 0 && availableReplicas === 0;

  const first = await shows("sleeper", atZero);
  expect(performance.now() - from).toBeGreaterThan(8_000);
  expect(scalingOf(first)).toMatchObject({ status: "True", reason: "Idle", message: "No call for 10s" });
  const called = await fetch(`${weir.url}/function/sleeper`);
  expect([called.status, await called.text()]).toEqual([200, "hello"]);
  expect(scalingOf(await show("sleeper"))).toMatchObject({ reason: "Woken" });

  await shows("sleeper", atZero);
  const queued = await fetch(`${weir.url}/async-function/sleeper`, { method: "POST" });
  expect(queued.status).toBe(202);
  const id = queued.headers.get("x-call-id") ?? "";
  const record = await fetch(`${weir.url}/async-function/${id}?wait=30s`);
  expect(await record.json()).toMatchObject({ state: "done", retries: 0 });

  enough.abort();
  expect((await calls).failures).toEqual([]);
  const awake = await shows("awake", (status) => scalingOf(status)?.reason !== "Deployed");
  expect(awake).toMatchObject({ replicas: 1, availableReplicas: 1 });
  expect(scalingOf(awake)).toMatchObject({
    reason: "InUse",
    message: expect.stringMatching(/^Not scaled to zero: .*\. 1 since .*: As deployed: scale\.min is 1$/),
  });
});

test("a count set by hand is held for a time, with a condition; then the load decides again", async () => {
  await deploy("kept", { "com.service.scale.max": "3" });
  const headers = { authorization: weir.authorization };
  const asked = { method: "POST", headers, body: '{"replicas":3}' };
  expect((await fetch(`${weir.url}/system/scale-function/kept`, asked)).status).toBe(202);
  const held = await show("kept");
  expect(held.replicas).toBe(3);
  const { reason, message = "" } = scalingOf(held) ?? {};
  expect(reason).toBe("OnHold");
  const words = /^Held at 3 until (?<until>\S+) by scale-function\. 3 since \S+ \(Requested\): Scaled to 3 by request$/;
  const until = Date.parse(words.exec(message)?.groups?.["until"] ?? "");
  const back = await shows("kept", ({ replicas }) => replicas === 1);
  expect(Date.parse(scalingOf(back)?.lastTransitionTime ?? "")).toBeGreaterThanOrEqual(until);

  const alert = async (status: string): Promise<void> => {
    const body = JSON.stringify({ alerts: [{ status, labels: { function_name: "kept" } }] });
    expect((await fetch(`${weir.url}/system/alert`, { method: "POST", headers, body })).status).toBe(200);
  };
  await alert("firing");
  expect(scalingOf(await show("kept"))?.message).toMatch(/^Held at 2 until \S+ by alert\. .*: An alert is firing$/);
  await alert("resolved");
  expect(scalingOf(await show("kept"))).toMatchObject({ reason: "Alert", message: "An alert is resolved" });
});

test("replicas follow the load up and down, as metrics show", async () => {
  await deploy("busy", { "com.service.scale.target": "20", "com.service.scale.max": "3" });
  const enough = new AbortController();
  const calls = steadyCalls({ urls: [`${weir.url}/function/busy`], rate: 100, signal: enough.signal });
  const grown = await shows("busy", ({ availableReplicas }) => availableReplicas === 3);
  expect(scalingOf(grown)).toMatchObject({ status: "True", reason: "LoadRose" });
  enough.abort();
  expect((await calls).failures).toEqual([]);
  const back = await shows("busy", ({ replicas, availableReplicas }) => replicas === 1 && availableReplicas === 1);
  expect(scalingOf(back)).toMatchObject({ reason: "LoadFell" });

  const metrics = await (await fetch(`${weir.adminUrl}/metrics`)).text();
  expect(metrics).toContain('gateway_service_target_load{function_name="busy.functions",scale_type="rps"} 20');
  expect(metrics).toContain("autoscaler_leader 1");
  expect(metrics).toMatch(/autoscaler_changes_total\{reason="load-rose"\} [1-2]/);
});
