import { readFile } from "node:fs/promises";
import { join } from "node:path";

import Type from "typebox";
import { Parse } from "typebox/value";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { CallRecord } from "../../runtime/api/schemas/call-record.ts";
import { noDockerEngine } from "../support/docker-engine.ts";
import { openDockerEngine, type TestDockerEngine } from "../support/shared-docker-engine.ts";
import { eventually } from "../support/eventually.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";
import { runWeir, startWeir, type WeirProcess } from "../support/weir-process.ts";

const ScalingResponse = Type.Object({
  replicas: Type.Integer(),
  conditions: Type.Array(Type.Object({ type: Type.String(), reason: Type.String() })),
});
const UsageResponse = Type.Object({ usage: Type.Object({ cpu: Type.Number(), totalMemoryBytes: Type.Number() }) });

/** Posts its input to the function that its path names, through `GATEWAY_URL`. */
const relay = `node -e 'process.stdin.pipe(require("http").request(process.env.GATEWAY_URL + "/function" + process.env.Http_Path, { method: "POST" }, (answer) => answer.pipe(process.stdout)))'`;

/** Started as a person starts it; each test continues where the previous one ended. */
describe.skipIf(noDockerEngine() !== undefined)("npm start -- --provider docker", () => {
  let engine: TestDockerEngine;
  let directory: TempDirectory;
  let weir: WeirProcess | undefined;

  beforeAll(async () => {
    engine = await openDockerEngine();
    directory = await tempDirectory("docker-start");
  });
  afterAll(async () => {
    await weir?.close();
    await directory?.remove();
    await engine?.close();
  });

  const flags = (provider: string) => ["--provider", provider, "--docker-socket", engine.socket];
  const start = async (provider: string): Promise<void> => {
    weir = await startWeir({ data: directory.path, within: 60_000, flags: flags(provider) });
  };
  const running = (): WeirProcess => {
    if (weir === undefined) throw new Error("Cannot go on: Weir did not start");
    return weir;
  };
  const administer = (method: string, path: string, body?: unknown) =>
    fetch(running().url + path, {
      method,
      headers: { Authorization: running().authorization },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const deploy = async (service: string, envProcess: string, more: object = {}) => {
    const response = await administer("PUT", "/system/functions", {
      service,
      image: engine.image,
      envProcess,
      ...more,
    });
    expect(response.status, await response.text()).toBe(202);
  };
  const call = async (target: string, body: string) => {
    const response = await fetch(`${running().url}/function/${target}`, { method: "POST", body });
    return { status: response.status, body: await response.text() };
  };
  const containers = async (): Promise<string[]> => {
    const { body } = await engine.client.call<{ Id: string }[]>("GET", "/containers/json", { query: { all: "1" } });
    return (body ?? []).map(({ Id: id }) => id).toSorted();
  };
  const networks = async (): Promise<string[]> => {
    const { body } = await engine.client.call<{ Name: string }[]>("GET", "/networks");
    return (body ?? []).map(({ Name: name }) => name).filter((name) => name.startsWith("weir-"));
  };

  test("auto uses the engine that responds, and says so", async () => {
    await start("auto");
    expect(running().output()).toMatch(/^ {2}provider {4}docker$/m);
    expect(await (await administer("GET", "/system/info")).json()).toMatchObject({
      provider: { provider: "weir-docker", orchestration: "docker" },
    });
    expect(await readFile(join(directory.path, "provider"), "utf8")).toBe("docker\n");
  });

  test("a function replies, and calls another one through the gateway's name", async () => {
    await deploy("upper", "tr a-z A-Z");
    await deploy("relay", relay);
    expect(await call("upper", "hello")).toEqual({ status: 200, body: "HELLO" });
    expect(await call("relay/upper", "from inside")).toEqual({ status: 200, body: "FROM INSIDE" });
    expect(await containers()).toHaveLength(2);
  });

  test("a queued call ends, and its callback reaches a function", async () => {
    await deploy("receiver", `node -e 'console.error("called back: " + process.env.Http_X_Call_Id)'`);
    const queued = await fetch(`${running().url}/async-function/upper`, {
      method: "POST",
      body: "queued",
      headers: { "X-Callback-Url": "http://gateway.weir.svc.cluster.local.:8080/function/receiver" },
    });
    const id = queued.headers.get("x-call-id") ?? "";
    expect(queued.status).toBe(202);
    const record = await eventually(
      async () => {
        const response = await fetch(`${running().url}/async-function/${id}?wait=5s`);
        const found = Parse(CallRecord, await response.json());
        return found.callback?.state === "sent" ? found : undefined;
      },
      { what: "the callback to be sent" },
    );
    expect(record).toMatchObject({ state: "done", callback: { status: 200 } });
    expect(await (await fetch(`${running().url}/async-function/${id}/result`)).text()).toBe("QUEUED");
    await eventually(
      async () => {
        const log = await administer("GET", "/system/logs?name=receiver&tail=1");
        return (await log.text()).includes(`called back: ${id}`);
      },
      { what: "a line of the receiver" },
    );
  });

  test("a function that speaks HTTP/2 replies, and its queued calls end", async () => {
    const server = `require("node:http2").createServer((request, response) => request.pipe(response.writeHead(200, { "x-version": request.httpVersion }))).listen(process.env.PORT, "127.0.0.1")`;
    const annotations = { "com.service.protocol": "h2c" };
    await deploy("streams", `node -e '${server}'`, { envVars: { mode: "http" }, annotations });
    const response = await fetch(`${running().url}/function/streams`, { method: "POST", body: "over HTTP/2" });
    expect({ version: response.headers.get("x-version"), body: await response.text() }).toEqual({
      version: "2.0",
      body: "over HTTP/2",
    });
    const queued = await fetch(`${running().url}/async-function/streams`, { method: "POST", body: "queued" });
    const id = queued.headers.get("x-call-id") ?? "";
    await (await fetch(`${running().url}/async-function/${id}?wait=30s`)).text();
    expect(await (await fetch(`${running().url}/async-function/${id}/result`)).text()).toBe("queued");
    expect((await administer("DELETE", "/system/functions", { functionName: "streams" })).status).toBe(202);
    await eventually(async () => (await containers()).length === 3, { what: "its container to go" });
  });

  test("the usage of containers is reported", async () => {
    const { usage } = Parse(UsageResponse, await (await administer("GET", "/system/function/upper?usage=1")).json());
    expect(usage.totalMemoryBytes).toBeGreaterThan(1_000_000);
    expect(usage.cpu).toBeGreaterThanOrEqual(0);
  });

  test("an idle function is scaled to zero, and calls of either kind at that very moment wake it", async () => {
    const others = await containers();
    const labels = { "com.service.scale.zero": "true", "com.service.scale.zero-duration": "10s" };
    await deploy("drowsy", "tr a-z A-Z", { labels });
    expect(await call("drowsy", "first")).toEqual({ status: 200, body: "FIRST" });
    const own = async () => (await containers()).filter((id) => !others.includes(id));
    const [first] = await own();
    const show = async () => Parse(ScalingResponse, await (await administer("GET", "/system/function/drowsy")).json());
    const atZero = await eventually(
      async () => {
        const shown = await show();
        return shown.replicas === 0 ? shown : undefined;
      },
      { every: 10, what: "no replica to be wanted" },
    );
    expect(atZero.conditions).toContainEqual(expect.objectContaining({ type: "Scaling", reason: "Idle" }));
    const queued = fetch(`${running().url}/async-function/drowsy`, { method: "POST", body: "queued" });
    const burst = await Promise.all(Array.from({ length: 20 }, () => call("drowsy", "again")));
    expect(new Set(burst.map(({ status, body }) => `${status} ${body}`))).toEqual(new Set(["200 AGAIN"]));
    const id = (await queued).headers.get("x-call-id") ?? "";
    const record = Parse(CallRecord, await (await fetch(`${running().url}/async-function/${id}?wait=30s`)).json());
    expect(record).toMatchObject({ state: "done", retries: 0 });
    const [second] = await eventually(
      async () => {
        const now = await own();
        return now.length === 1 ? now : undefined;
      },
      { what: "the container of before to go" },
    );
    expect(second).not.toBe(first);
    expect((await administer("DELETE", "/system/functions", { functionName: "drowsy" })).status).toBe(202);
    await eventually(async () => (await own()).length === 0, { what: "its container to go" });
  });

  test("updates and scaling fail no call", async () => {
    const replies = new Map<string, number>();
    let calling = true;
    const caller = async () => {
      while (calling) {
        const { status, body } = await call("upper", "x");
        const key = status === 200 ? body : `${status} ${body}`;
        replies.set(key, (replies.get(key) ?? 0) + 1);
      }
    };
    const callers = [caller(), caller()];
    const until = (word: string) => eventually(() => replies.has(word), { what: `the reply "${word}"` });
    try {
      await until("X");
      await deploy("upper", "tr a-z 0-9", { labels: { "com.service.scale.min": "2" } });
      await until("9");
      await administer("POST", "/system/scale-function/upper", { replicas: 3 });
      await administer("POST", "/system/scale-function/upper", { replicas: 2 });
      await deploy("upper", "tr a-z A-Z");
      replies.clear();
      await until("X");
    } finally {
      calling = false;
    }
    await Promise.all(callers);
    expect([...replies.keys()].filter((key) => key !== "X" && key !== "9")).toEqual([]);
  });

  test("an image that cannot be pulled is a condition with the engine's message, and callers are told that it fails", async () => {
    await deploy("absent", "cat", { image: "127.0.0.1:1/acme/absent:1" });
    await eventually(
      async () => {
        const text = await (await administer("GET", "/system/function/absent")).text();
        return (text.includes('"reason":"ErrImagePull"') && text.includes("Cannot pull image")) || undefined;
      },
      { what: "the condition" },
    );
    const asked = performance.now();
    const refused = await call("absent", "x");
    expect(refused.status).toBe(503);
    expect(refused.body).toMatch(/^Cannot /);
    expect(refused.body).not.toContain("127.0.0.1:1");
    // As soon as the next attempt has failed, long before the caller's timeout.
    expect(performance.now() - asked).toBeLessThan(30_000);
    expect((await administer("DELETE", "/system/functions", { functionName: "absent" })).status).toBe(202);
  });

  test("a killed Weir leaves its containers, which the next one reuses", async () => {
    await eventually(async () => (await containers()).length === 3, { what: "three containers" });
    const before = await containers();
    await running().kill();
    // On a busy machine, a container that failed its probe may just have got a successor.
    expect(await containers()).toEqual(expect.arrayContaining(before));
    await running().close();
    await start("auto");
    expect(await call("relay/upper", "again")).toEqual({ status: 200, body: "AGAIN" });
    expect(await containers()).toEqual(expect.arrayContaining(before));
  });

  test("it is not ready without its engine, and ready again when the engine is back", async () => {
    const ready = async () => (await fetch(`${running().adminUrl}/readyz`)).status;
    await engine.kill();
    await eventually(async () => (await ready()) === 503, { what: "readiness to end" });
    await engine.start();
    await eventually(async () => (await ready()) === 200, { within: 60_000, what: "readiness" });
    const isBack = async () => (await call("upper", "back")).body === "BACK";
    await eventually(isBack, { within: 45_000, what: "an answer" }).catch((cause: unknown) => {
      throw new Error(`${String(cause)}\n${running().output().slice(-4_000)}`, { cause });
    });
  });

  test("Ctrl-C leaves no container and no network", async () => {
    await running().stop();
    weir = undefined;
    expect(await containers()).toEqual([]);
    expect(await networks()).toEqual([]);
  });

  test("auto does not fall back to processes when the engine is unavailable, and names the remedy", async () => {
    const nowhere = ["--provider", "auto", "--docker-socket", join(directory.path, "nobody.sock")];
    const refused = await runWeir({ data: directory.path, flags: nowhere });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain("Cannot reach the container engine");
    const other = await runWeir({ data: directory.path, flags: ["--provider", "local"] });
    expect(other.stderr).toContain('functions were deployed with provider "docker"');
  });
});
