import { createHash } from "node:crypto";

import { expect, test } from "vitest";

import { clusterClient, isReady } from "./cluster-client.ts";
import type { ClusterPlatform } from "./cluster-platform.ts";
import { eventually } from "./eventually.ts";
import { steadyCalls } from "./steady-calls.ts";

const timeout = 60_000;

/** Tests of what people do with a platform in a cluster of real pods, however it was installed. */
export function testPlatformUse(opened: () => ClusterPlatform): void {
  const { send, sendJson, kubectl, shows, deploy, call, ended } = clusterClient(opened);

  test("reports where it runs", async () => {
    expect(await (await send("/system/info")).json()).toMatchObject({
      provider: { provider: "weir-kubernetes", orchestration: "kubernetes" },
      functionNamespace: opened().functionNamespace,
    });
  });

  test("a function deployed by request is called, streamed through, and listed by kubectl", async () => {
    await deploy("echo");
    expect(await call("echo")).toBe("200 hello");
    expect(await kubectl("get", "fn", "echo")).toMatch(/echo +True +ReplicasReady +1 +1 +\S+ /);
    const large = Buffer.alloc(5_000_000, "x");
    const response = await send("/function/echo", { method: "POST", body: large });
    expect(Buffer.from(await response.arrayBuffer()).equals(large)).toBe(true);
  });

  test("a function applied with kubectl is called by request, and scaled with kubectl scale", async () => {
    await opened().cluster.apply({
      apiVersion: "service.com/v1",
      kind: "Function",
      metadata: { name: "applied", namespace: opened().functionNamespace },
      spec: { image: opened().image, handler: "tr a-z A-Z" },
    });
    await eventually(async () => (await call("applied")) === "200 HELLO", { within: timeout, what: "an answer" });
    await kubectl("scale", "fn/applied", "--replicas=2");
    expect(await shows("applied", "two replicas", ({ availableReplicas }) => availableReplicas === 2)).toMatchObject({
      replicas: 2,
    });
  });

  test("a queued call is run, its result kept, and called back to another function", async () => {
    await deploy("receiver");
    await deploy("sender", { envProcess: "sha256sum" });
    const queued = await send("/async-function/sender", {
      method: "POST",
      body: "hello",
      headers: { "x-callback-url": `http://gateway.${opened().namespace}.svc.cluster.local:8080/function/receiver` },
    });
    expect(queued.status).toBe(202);
    const id = queued.headers.get("x-call-id") ?? "";
    expect(await ended(id)).toMatchObject({ state: "done", callback: { state: "sent", status: 200 } });
    const result = await send(`/async-function/${id}/result`);
    expect(await result.text()).toBe(`${createHash("sha256").update("hello").digest("hex")}  -\n`);
  });

  test("a secret created by request reaches the pods, and so does its next value", async () => {
    const name = "word";
    expect((await sendJson("POST", "/system/secrets", { name, value: "first" })).status).toBe(201);
    await deploy("teller", { envProcess: "cat /var/service/secrets/word", secrets: [name] });
    expect(await call("teller")).toBe("200 first");
    expect((await sendJson("PUT", "/system/secrets", { name, value: "second" })).status).toBe(202);
    await eventually(async () => (await call("teller")) === "200 second", {
      within: timeout,
      what: "the new value",
      every: 500,
    });
    expect(await (await send("/system/secrets")).json()).toMatchObject([{ name }]);
  });

  test("logs are those of the pods", async () => {
    await deploy("talker", { envProcess: "sh -c 'cat; echo heard >&2'" });
    await call("talker");
    const logs = await eventually(
      async () => {
        const response = await send("/system/logs?name=talker");
        const text = await response.text();
        return text.includes("heard") ? text : undefined;
      },
      { within: timeout, what: "the line" },
    );
    expect(logs).toContain('"name":"talker"');
  });

  test("no call fails during a rollout, at 200 calls per second", async () => {
    const labels = { "com.service.scale.min": "2", "com.service.scale.max": "2" };
    await deploy("rolled", { labels });
    const enough = new AbortController();
    const urls = [`${opened().url}/function/rolled`];
    const calls = steadyCalls({ urls, rate: 200, atOnce: 32, signal: enough.signal });
    await deploy("rolled", { labels, envVars: { colour: "green" } });
    const pods = JSON.parse(await kubectl("get", "pods", "--selector=faas_function=rolled", "--output=json")) as {
      items: readonly { metadata: { deletionTimestamp?: string } }[];
    };
    expect(pods.items.filter(({ metadata }) => metadata.deletionTimestamp === undefined)).toHaveLength(2);
    enough.abort();
    const { failures, latencies } = await calls;
    expect(failures).toEqual([]);
    expect([...latencies.values()].flat().length).toBeGreaterThan(200);
  }, 180_000);

  test("an idle function scales to zero, and a call wakes it", async () => {
    await deploy("sleeper", {
      labels: { "com.service.scale.zero": "true", "com.service.scale.zero-duration": "10s" },
    });
    await shows("sleeper", "the function to sleep", ({ replicas }) => replicas === 0);
    // The number of replicas and the reason are two writes.
    const isIdle = (each: { readonly type: string; readonly reason: string }): boolean =>
      each.type === "Scaling" && each.reason === "Idle";
    await shows("sleeper", "the reason", ({ conditions }) => conditions?.some(isIdle) ?? false);
    expect(await call("sleeper")).toBe("200 hello");
  }, 180_000);

  test("FP6 pods killed during calls: a queued call runs again, and only calls in flight fail", async () => {
    const slow = `require("http").createServer((ask, answer) => { ask.resume(); setTimeout(() => answer.end("done"), 6000); }).listen(process.env.PORT, "127.0.0.1")`;
    const labels = { "com.service.scale.min": "2", "com.service.scale.max": "2" };
    await deploy("survivor", { labels, envProcess: `node -e '${slow}'`, envVars: { mode: "http" } });
    const inFlight = Array.from({ length: 4 }, () => call("survivor"));
    const queued = await send("/async-function/survivor", { method: "POST", body: "hello" });
    const id = queued.headers.get("x-call-id") ?? "";
    const isRunning = async (): Promise<boolean> => {
      const { state } = (await (await send(`/async-function/${id}`)).json()) as { readonly state: string };
      return state === "running";
    };
    await eventually(isRunning, { what: "the queued call to run" });
    await kubectl("delete", "pods", "--selector=faas_function=survivor", "--force", "--grace-period=0");
    for (const response of await Promise.all(inFlight)) expect(response).toMatch(/^(?:200 done$|502 )/);
    const record = await ended(id);
    expect(record).toMatchObject({ state: "done" });
    expect(record.retries).toBeGreaterThanOrEqual(1);
    await shows("survivor", "two replicas again", isReady);
    expect(await call("survivor")).toBe("200 done");
  }, 180_000);

  test("a function that cannot start reports why, and its callers get 503", async () => {
    const response = await sendJson("PUT", "/system/functions", {
      service: "broken",
      image: "no.registry.example/none:1",
    });
    expect(response.status).toBe(202);
    const status = await shows("broken", "a condition", ({ conditions }) =>
      conditions.some(({ type, status: is }) => type === "Stalled" && is === "True"),
    );
    expect(status.conditions.find(({ type }) => type === "Stalled")?.reason).toMatch(/Image/);
    const refused = await send("/function/broken", { method: "POST" });
    expect(refused.status).toBe(503);
  }, 120_000);

  test("deleting a function removes all of its objects", async () => {
    await deploy("gone");
    expect((await sendJson("DELETE", "/system/functions", { functionName: "gone" })).status).toBe(202);
    await eventually(
      async () =>
        (await kubectl("get", "deployment,service,pod", "--selector=faas_function=gone", "--output=name")) === "",
      { within: timeout, what: "nothing left" },
    );
    expect((await send("/function/gone")).status).toBe(404);
  });
}
