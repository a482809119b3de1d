import { once } from "node:events";
import { createServer } from "node:http";
import { statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";

import { Parse } from "typebox/value";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { CallRecord } from "../../runtime/api/schemas/call-record.ts";
import { release } from "../../runtime/api/version.ts";
import { eventually } from "../support/eventually.ts";
import { isAlive } from "../support/process-tree.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";
import { runWeir, startWeir, type WeirOptions, type WeirProcess } from "../support/weir-process.ts";

describe("npm start", () => {
  const started: WeirProcess[] = [];
  let directory: TempDirectory;

  beforeEach(async () => {
    directory = await tempDirectory("start");
  });
  afterEach(async () => {
    for (const weir of started.splice(0)) await weir.close();
    await directory.remove();
  });

  async function start(options: Partial<WeirOptions> = {}): Promise<WeirProcess> {
    const weir = await startWeir({ data: directory.path, within: 60_000, ...options });
    started.push(weir);
    return weir;
  }
  const administer = (weir: WeirProcess, method: string, path: string, body?: unknown) =>
    fetch(weir.url + path, {
      method,
      headers: { Authorization: weir.authorization, "Content-Type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const deploy = async (weir: WeirProcess, service: string, envProcess: string, more: object = {}) => {
    const { status } = await administer(weir, "PUT", "/system/functions", {
      service,
      image: `${service}:test`,
      envProcess,
      ...more,
    });
    expect(status).toBe(202);
  };
  const call = async (weir: WeirProcess, name: string, body: string) => {
    const response = await fetch(`${weir.url}/function/${name}`, { method: "POST", body });
    return { status: response.status, body: await response.text() };
  };
  const queue = async (weir: WeirProcess, name: string, body: string) => {
    const response = await fetch(`${weir.url}/async-function/${name}`, { method: "POST", body });
    expect(response.status).toBe(202);
    return response.headers.get("x-call-id") ?? "";
  };
  const record = async (weir: WeirProcess, id: string, wait = "0s"): Promise<CallRecord> =>
    Parse(CallRecord, await (await fetch(`${weir.url}/async-function/${id}?wait=${wait}`)).json());

  test("serves, prints its addresses, and ends with Ctrl-C leaving no process", async () => {
    const weir = await start({ through: "npm", within: 120_000 });
    expect(weir.output()).toContain(`Weir ${release} is ready`);
    expect(weir.output()).toMatch(/^ {2}isolation {3}(no isolation|a user per function)/m);
    expect(weir.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect((await fetch(`${weir.adminUrl}/readyz`)).status).toBe(200);
    expect((await fetch(`${weir.url}/system/functions`)).status).toBe(401);
    expect(statSync(join(directory.path, "credentials")).mode & 0o077).toBe(0);

    await deploy(weir, "upper", "tr a-z A-Z");
    expect(await call(weir, "upper", "hello")).toEqual({ status: 200, body: "HELLO" });
    const below = weir.below();
    expect(below.some(({ command }) => command.includes("nats-server"))).toBe(true);
    await weir.stop();
    expect(below.filter(isAlive)).toEqual([]);
  });

  test("does not start without the engine that DOCKER_HOST names, unless processes are chosen", async () => {
    const environment = { DOCKER_HOST: `unix://${directory.path}/none.sock` };
    const { code, stderr } = await runWeir({ data: directory.path, flags: ["--provider", "auto"], environment });
    expect(code).toBe(1);
    expect(stderr).toContain(`Cannot reach the container engine at "${directory.path}/none.sock"`);
    expect(stderr).toContain("DOCKER_HOST names that engine: to start without it, use --provider local");
    const weir = await start({ environment });
    expect(weir.output()).toMatch(/^ {2}provider {4}local$/m);
    await weir.stop();
  });

  test("a second start keeps functions, secrets, queued calls and records", async () => {
    // One at a time: the last call is still queued when the first start ends.
    const first = await start({ flags: ["--max-inflight", "1"] });
    const token = { name: "token", value: "s3cret" };
    expect((await administer(first, "POST", "/system/secrets", token)).status).toBe(201);
    await deploy(first, "upper", "tr a-z A-Z", { secrets: ["token"], labels: { "com.service.scale.max": "3" } });
    await deploy(first, "nap", "sleep 2");
    const done = await queue(first, "upper", "kept");
    await eventually(async () => (await record(first, done, "5s")).state === "done", {
      what: "the first call's end",
    });
    const nap = await queue(first, "nap", "");
    const waiting = await queue(first, "upper", "still queued");
    await first.stop();

    const second = await start();
    expect(second.password).toBe(first.password);
    expect(await (await administer(second, "GET", "/system/secrets")).json()).toEqual([
      { name: "token", namespace: "functions" },
    ]);
    const functions = await (await administer(second, "GET", "/system/functions")).json();
    expect(functions).toMatchObject([{ name: "nap" }, { name: "upper", secrets: ["token"] }]);
    expect(await record(second, done)).toMatchObject({ state: "done", functionName: "upper" });
    for (const id of [nap, waiting]) {
      await eventually(async () => (await record(second, id, "10s")).state === "done", {
        within: 60_000,
        what: `the end of call ${id}`,
      });
    }
    expect(await (await fetch(`${second.url}/async-function/${waiting}/result`)).text()).toBe("STILL QUEUED");
    expect(await call(second, "upper", "again")).toEqual({ status: 200, body: "AGAIN" });
    await second.stop();
  });

  test("after SIGKILL of the host the next start serves, and accepted calls end", async () => {
    // A short lease: the call that ran when the host died is taken over after it.
    const first = await start({ flags: ["--ack-wait", "3s"] });
    // A port that the system assigns could be taken by another process before the gateway listens there.
    for (const url of [first.url, first.adminUrl]) expect(Number(new URL(url).port)).toBeLessThan(32_768);
    await deploy(first, "upper", "tr a-z A-Z");
    expect(await call(first, "upper", "warm")).toEqual({ status: 200, body: "WARM" });
    const ids = await Promise.all(Array.from({ length: 20 }, (_, index) => queue(first, "upper", `call ${index}`)));
    await first.kill();

    const second = await start({ flags: ["--ack-wait", "3s"] });
    for (const id of ids) {
      await eventually(async () => (await record(second, id, "30s")).state === "done", {
        within: 120_000,
        what: `the end of call ${id}`,
      });
    }
    await second.stop();
  });

  test("closing the terminal stops it as Ctrl-C does", async () => {
    const weir = await start();
    const below = weir.below();
    // The shell and the system each send one.
    process.kill(weir.pid, "SIGHUP");
    process.kill(weir.pid, "SIGHUP");
    await eventually(() => !below.some(isAlive), { what: "the end of all processes" });
    await eventually(async () => !(await readdir(directory.path)).includes("lock"), {
      what: "the data directory to be free",
    });
  });

  test("a port or a directory in use is reported in one sentence, with exit code 1", async () => {
    const busy = createServer().listen(0, "127.0.0.1");
    await once(busy, "listening");
    const address = busy.address();
    const port = address !== null && typeof address === "object" ? String(address.port) : "";
    const refused = await runWeir({ data: directory.path, flags: ["--port", port] });
    busy.close();
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(new RegExp(`^Cannot .*port ${port}.*--port.*\\n$`));

    const weir = await start();
    const second = await runWeir({ data: directory.path });
    expect(second.code).toBe(1);
    expect(second.stderr).toMatch(/^Cannot .*\n$/);
    expect(second.stderr).toContain(directory.path);
    expect((await fetch(`${weir.url}/healthz`)).status).toBe(200);
    await weir.stop();
  });

  test("invalid settings are reported together, an unavailable engine in one sentence", async () => {
    const wrong = await runWeir({ data: directory.path, flags: ["--port", "x", "--edition", "gold"] });
    expect(wrong.code).toBe(1);
    expect(wrong.stderr).toMatch(/edition: expected .* got "gold"/);
    expect(wrong.stderr).toMatch(/^Cannot start:\s+(.*\n)*.*port: expected .* got "x"/);

    const docker = await runWeir({
      data: directory.path,
      flags: ["--provider", "docker", "--docker-socket", `${directory.path}/none.sock`],
    });
    expect(docker.code).toBe(1);
    expect(docker.stderr).toMatch(
      /^Cannot reach the container engine at ".*none\.sock": .*; install an engine \(apt-get install docker\.io\) .*\n$/,
    );

    const help = await runWeir({ data: directory.path, flags: ["--help"] });
    expect(help.code).toBe(0);
    for (const flag of [
      "--host",
      "--port",
      "--admin-port",
      "--data",
      "--provider",
      "--edition",
      "--nats-server",
      "--tls-cert",
      "--config",
    ]) {
      expect(help.stdout).toContain(flag);
    }
  });
});
