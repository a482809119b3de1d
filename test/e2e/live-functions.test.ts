import { createHash, randomBytes } from "node:crypto";

import { afterAll, beforeAll, expect, test } from "vitest";

import type { FunctionStatus } from "../../runtime/api/schemas/function-status.ts";
import type { LogRecord } from "../../runtime/api/schemas/log-record.ts";
import { eventually } from "../support/eventually.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";
import { startWeir, type WeirProcess } from "../support/weir-process.ts";

/** What the API promises about running functions, on a Weir started as a person starts it. */
let data: TempDirectory;
let weir: WeirProcess;

beforeAll(async () => {
  data = await tempDirectory("live");
  weir = await startWeir({ data: data.path, flags: ["--shutdown-delay", "0s", "--log-heartbeat-period", "1s"] });
});
afterAll(async () => {
  await weir?.stop();
  await data?.remove();
});

/** A server that replies with its process id, writes lines to its log, and hashes its secrets. */
const program = `
  const { readFileSync } = require("node:fs");
  const hash = (name) => require("node:crypto").createHash("sha256").update(readFileSync(process.env.SERVICE_SECRETS_DIR + "/" + name)).digest("hex");
  require("node:http").createServer((request, response) => {
    const [, what, argument] = request.url.split("/");
    if (what === "say") console.log(argument.repeat(Number(request.headers["x-times"] ?? 1)));
    response.end(what === "hash" ? hash(argument) : String(process.pid));
  }).listen(process.env.PORT, "127.0.0.1");`;
const server = { image: "none", envProcess: `node -e '${program}'`, envVars: { mode: "http" } };

async function system(method: string, path: string, body?: unknown): Promise<Response> {
  return fetch(`${weir.url}/system/${path}`, {
    method,
    headers: { authorization: weir.authorization },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}
const change = async (method: string, path: string, body: unknown): Promise<number> =>
  (await system(method, path, body)).status;
const show = async (name: string, query = ""): Promise<FunctionStatus> =>
  (await system("GET", `function/${name}${query}`)).json() as Promise<FunctionStatus>;

const textsOf = async (name: string): Promise<string> => (await system("GET", `logs?name=${name}`)).text();

async function call(path: string, headers: Record<string, string> = {}): Promise<string> {
  const response = await fetch(`${weir.url}/function/${path}`, { headers });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${path} answered ${response.status}: ${text}`);
  return text;
}

async function deploy(service: string, over: object, replicas: number): Promise<void> {
  expect(await change("PUT", "functions", { service, ...server, ...over })).toBe(202);
  await ready(service, replicas);
}
const ready = (service: string, replicas: number) =>
  eventually(
    async () => {
      const { availableReplicas, conditions } = await show(service);
      return availableReplicas === replicas && conditions.some(({ reason }) => reason === "Settled");
    },
    { what: `${replicas} replicas of ${service}` },
  );

test("logs of all replicas, also of new ones, are followed to the function's end; long lines are cut", async () => {
  await deploy("talker", { labels: { "com.service.scale.min": "2" } }, 2);
  const response = await system("GET", "logs?name=talker&follow=true");
  const records: LogRecord[] = [];
  let heartbeats = 0;
  const following = (async () => {
    let rest = "";
    for await (const chunk of response.body ?? []) {
      const lines = (rest + Buffer.from(chunk).toString()).split("\n");
      rest = lines.pop() ?? "";
      heartbeats += lines.filter((line) => line === "").length;
      for (const line of lines) if (line !== "") records.push(JSON.parse(line));
    }
    return rest;
  })();
  const instances = () => new Set(records.filter(({ text }) => text === "hello\n").map(({ instance }) => instance));
  const sayUntil = (count: number) =>
    eventually(async () => (await call("talker/say/hello")) !== "" && instances().size === count, {
      what: `a line of each of ${count} replicas`,
    });
  await sayUntil(2);
  expect(await change("POST", "scale-function/talker", { replicas: 3 })).toBe(202);
  await ready("talker", 3);
  await sayUntil(3);
  await call("talker/say/x", { "x-times": "70000" });
  const long = await eventually(() => records.find(({ text }) => text.startsWith("xx")), {
    what: "the long line",
  });
  expect(long.text).toBe(`${"x".repeat(65_536)} [cut]\n`);
  expect(long).toMatchObject({ name: "talker", namespace: "functions" });
  expect(long.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$/);

  const [instance = ""] = instances();
  const since = records.find((record) => record.instance === instance)?.timestamp.slice(0, 23) ?? "";
  const part = await (await system("GET", `logs?name=talker&instance=${instance}&tail=1&since=${since}`)).text();
  expect(
    part
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).instance),
  ).toEqual([instance]);
  await eventually(() => heartbeats > 0, { what: "an empty line after silence" });

  expect(await change("DELETE", "functions", { functionName: "talker" })).toBe(202);
  expect(await following).toBe("");
});

test("a PUT that changes nothing rolls all replicas, and no call fails", async () => {
  await deploy("same", { labels: { "com.service.scale.min": "2" } }, 2);
  const pids: string[] = [];
  let ended = false;
  const loops = Array.from({ length: 4 }, async () => {
    while (!ended) pids.push(await call("same"));
  });
  let before = new Set<string>();
  // The first replies may come from old replicas that were called before the new ones were ready.
  const settled = () => pids.slice(10);
  try {
    await eventually(() => new Set(pids).size === 2, { what: "replies of both replicas" });
    before = new Set(pids);
    const { generation } = await show("same");
    expect(
      await change("PUT", "functions", { service: "same", ...server, labels: { "com.service.scale.min": "2" } }),
    ).toBe(202);
    await eventually(
      async () => {
        const { conditions, availableReplicas, generation: now } = await show("same");
        const isSettled = conditions.some(({ reason }) => reason === "Settled");
        return isSettled && availableReplicas === 2 && now === generation + 1 && new Set(pids).size === 4;
      },
      { what: "two new replicas" },
    );
    pids.length = 0;
    await eventually(() => settled().length > 50 && new Set(settled()).size >= 2, {
      what: "replies of both new replicas",
    });
  } finally {
    ended = true;
  }
  await Promise.all(loops);

  expect(settled().filter((pid) => before.has(pid))).toEqual([]);
  expect(await change("DELETE", "functions", { functionName: "same" })).toBe(202);
});

test("running functions see a new secret, text or binary, once its PUT has returned", async () => {
  const sha256 = (value: Uint8Array | string) => createHash("sha256").update(value).digest("hex");
  const values = [Buffer.from("grüße\r\n\n"), Buffer.from([0, 255, 128, 10, 0]), randomBytes(1_048_576)];
  expect(await change("POST", "secrets", { name: "key", value: "first" })).toBe(201);
  await deploy("reader", { secrets: ["key"] }, 1);
  expect(await call("reader/hash/key")).toBe(sha256("first"));
  const pid = await call("reader");

  const allowed = new Set([...values, "first", "last"].map(sha256));
  const seen: string[] = [];
  let ended = false;
  const reading = (async () => {
    while (!ended) seen.push(await call("reader/hash/key"));
  })();
  try {
    for (const value of values) {
      expect(await change("PUT", "secrets", { name: "key", rawValue: value.toString("base64") })).toBe(202);
      expect(await call("reader/hash/key")).toBe(sha256(value));
    }
    expect(await change("PUT", "secrets", { name: "key", value: "last" })).toBe(202);
    expect(await call("reader/hash/key")).toBe(sha256("last"));
  } finally {
    ended = true;
  }
  await reading;

  expect(seen.filter((each) => !allowed.has(each))).toEqual([]);
  expect(await call("reader")).toBe(pid);
});

test("usage=1 returns what a running function uses", async () => {
  const { usage } = await show("reader", "?usage=1");
  expect(usage?.totalMemoryBytes).toBeGreaterThan(1_000_000);
  expect(usage?.cpu).toBeGreaterThanOrEqual(0);
  expect(await show("reader")).not.toHaveProperty("usage");
});

test("an alert adds replicas, and its end removes them", async () => {
  const alert = (status: string) =>
    change("POST", "alert", { alerts: [{ status, labels: { function_name: "reader.functions" } }] });
  const labels = { "com.service.scale.max": "5" };
  await deploy("reader", { secrets: ["key"], labels }, 1);
  expect(await alert("firing")).toBe(200);
  expect((await show("reader")).replicas).toBe(2);
  await ready("reader", 2);
  expect(await alert("resolved")).toBe(200);
  await ready("reader", 1);
});

test("calls of a function that cannot start fail at once, and wait again after a fix", async () => {
  const broken = { service: "broken", image: "none", envProcess: "sh -c 'echo no luck >&2; exit 3'" };
  expect(await change("PUT", "functions", { ...broken, envVars: { mode: "http" } })).toBe(202);
  const response = await fetch(`${weir.url}/function/broken`);
  expect([response.status, response.headers.get("retry-after")]).toEqual([503, "5"]);
  expect(await response.text()).toBe(
    'Cannot wake function "broken.functions": its replicas end again and again; its conditions say why\n',
  );
  await deploy("broken", {}, 1);

  expect(await call("broken/who")).toMatch(/^\d+$/);
});

test("the output of ended replicas is in the logs, after a crash and after a scale to zero", async () => {
  const crash = `node -e 'throw new Error("DATABASE_URL is not set")'`;
  const crashed = { service: "crashed", image: "none", envProcess: crash, envVars: { mode: "http" } };
  expect(await change("PUT", "functions", crashed)).toBe(202);
  const response = await fetch(`${weir.url}/function/crashed`);
  expect(response.status).toBe(503);
  await eventually(async () => (await textsOf("crashed")).includes("Error: DATABASE_URL is not set"), {
    what: "the crash in the logs",
  });

  await deploy("sleeper", {}, 1);
  await call("sleeper/say/goodbye");
  expect(await change("POST", "scale-function/sleeper", { serviceName: "sleeper", replicas: 0 })).toBe(202);
  await ready("sleeper", 0);
  await eventually(async () => (await textsOf("sleeper")).includes("goodbye"), { what: "its last words" });
});

test("a server deployed without mode http gets a hint", async () => {
  const listens = `node -e 'require("node:http").createServer(() => {}).listen(0, "127.0.0.1", () => console.log("Listening"))'`;
  expect(await change("PUT", "functions", { service: "modeless", image: "none", envProcess: listens })).toBe(202);
  const calling = new AbortController();
  const aborted = fetch(`${weir.url}/function/modeless`, { signal: calling.signal }).catch(() => undefined);
  await eventually(async () => (await textsOf("modeless")).includes("if it is a server, set mode to http"), {
    what: "the hint in the logs",
  });
  calling.abort();
  await aborted;

  const body = Buffer.alloc(1_048_576);
  const response = await fetch(`${weir.url}/function/modeless`, { method: "POST", body });
  expect(response.status).toBe(502);
  expect(await response.text()).toMatch(/listens on a port instead of reading its input: set mode to http\n$/);
});
