import { afterAll, beforeAll, expect, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import { openFaultBench, type FaultBench } from "../support/fault-bench.ts";
import type { FunctionServer } from "../support/function-server.ts";
import type { Platform } from "../support/platform.ts";
import { freePort } from "../support/free-port.ts";

let bench: FaultBench;
let platform: Platform;
let echo: FunctionServer;

beforeAll(async () => {
  const port = await freePort();
  bench = await openFaultBench({
    slots: 4,
    retryAttempts: 1,
    wakeTimeout: 1_000,
    gatewayFlags: [`--port=${port}`],
    workerFlags: ["--gateway-invoke", `--gateway-url=http://127.0.0.1:${port}`, "--write-debug"],
  });
  ({ platform } = bench);
  echo = await bench.open(
    "echo",
    (request, response, body) => {
      const first = request.headers["x-call-attempt"] === "1";
      const status = request.url === "/again" && first ? 503 : Number(request.headers["x-wanted-status"] ?? 200);
      response.writeHead(status, { "X-Answer": "42", "Set-Cookie": "session=hidden" }).end(body);
    },
    { annotations: { "com.service.auth": "required" } },
  );
});

afterAll(() => bench?.close());

const authorization = () => platform.authorization;
const runsOf = (id: string) => echo.requests.filter((request) => request.headers["x-call-id"] === id);

test("a run through the gateway reaches the function like one sent straight to it", async () => {
  const response = await platform.calls.queue("echo", {
    tail: "/a%2Fb?x=1",
    body: "hello",
    callbackUrl: bench.sink.url,
    headers: { authorization: authorization(), "x-custom": "1", "x-forwarded-proto": "gopher" },
  });
  const id = response.headers.get("x-call-id") ?? "";
  const callback = await bench.sink.waitFor(id);

  expect(callback.body.toString()).toBe("hello");
  expect(callback.headers).toMatchObject({ "x-answer": "42", "x-function-status": "200", "x-call-id": id });
  const [run, ...more] = runsOf(id);
  expect(more).toEqual([]);
  expect(run).toMatchObject({ method: "POST", target: "/a%2Fb?x=1", body: "hello" });
  expect(run?.headers).toMatchObject({
    host: echo.address,
    "x-call-id": id,
    "x-call-attempt": "1",
    "x-start-time": response.headers.get("x-start-time"),
    "x-custom": "1",
    "x-forwarded-for": "127.0.0.1",
    "x-forwarded-proto": "http",
    "x-auth-subject": "admin",
  });
  expect((run?.rawHeaders ?? []).filter((name) => /^x-auth/i.test(name))).toEqual(["X-Auth-Subject"]);
  expect(callback.headers["x-auth-subject"]).toBeUndefined();
  for (const name of ["weir-invoke", "weir-timeout", "authorization"]) expect(run?.headers[name]).toBeUndefined();
  expect((run?.rawHeaders ?? []).filter((name) => name.toLowerCase() === "x-forwarded-for")).toHaveLength(1);
});

test("runs through the gateway are counted only there, each once", async () => {
  const labels = { function_name: "echo.functions" };
  const name = "gateway_function_invocation_total";
  const before = await platform.metric(platform.gateway, name, labels);
  const id = await platform.calls.accepted("echo", { tail: "/again", headers: { authorization: authorization() } });
  expect(await platform.calls.ended(id)).toMatchObject({ state: "done", retries: 1 });
  const total = () => platform.metric(platform.gateway, name, labels);
  await eventually(async () => (await total()) === before + 2, { what: "both runs on the gateway's page" });
  expect(await platform.metric(platform.worker, name, labels)).toBe(0);
});

test("retries, the parent's id and the function's own status are those of the queue", async () => {
  const again = await platform.calls.accepted("echo", { tail: "/again", headers: { authorization: authorization() } });
  expect(await platform.calls.until(again, ["waiting", "running"])).toBeDefined();
  await expect.poll(() => runsOf(again).length, { timeout: 10_000 }).toBe(2);
  expect(runsOf(again).map((run) => run.headers["x-call-attempt"])).toEqual(["1", "2"]);

  const other = await platform.calls.accepted("echo", {
    id: again,
    body: "other",
    headers: { authorization: authorization(), "x-wanted-status": "422" },
  });
  await expect.poll(() => runsOf(other).length, { timeout: 10_000 }).toBe(1);
  expect(runsOf(other)[0]?.headers["x-parent-call-id"]).toBe(again);
});

test("a reply of the gateway itself is no output: 503, retried, an empty callback", async () => {
  await platform.deploy("scaled-to-zero", { addresses: [] });
  const id = await platform.calls.accepted("scaled-to-zero", { callbackUrl: bench.sink.url });
  const record = await platform.calls.ended(id, 20_000);

  expect(record).toMatchObject({ state: "failed", reason: "exhausted", attempts: [{ status: 503 }, { status: 503 }] });
  expect(record.result).toBeUndefined();
  expect(await bench.sink.waitFor(id)).toMatchObject({ bodySize: 0, headers: { "x-function-status": "503" } });
});

test("without the key, or with another one, the platform's headers are dropped", async () => {
  for (const headers of [{ "weir-invoke": "guess" }, {}]) {
    const refused = await platform.calls.send("POST", "/function/echo", { headers });
    expect(refused.status).toBe(401);
  }
  const entered = await platform.calls.send("POST", "/function/echo", {
    headers: {
      authorization: authorization(),
      "weir-invoke": "guess",
      "x-call-attempt": "7",
      "weir-timeout": "1",
      "x-auth-issuer": "https://root.example",
    },
  });
  expect(entered.status).toBe(200);
  expect(echo.requests.at(-1)?.headers["x-auth-issuer"]).toBeUndefined();
  expect(echo.requests.at(-1)?.headers["x-call-attempt"]).toBeUndefined();
});

test("write_debug logs requests and replies, but no credentials", async () => {
  const lines = platform.worker.log.filter(({ msg }) => msg === "function was run");
  expect(JSON.stringify(lines)).toContain('"body":"hello"');
  expect(JSON.stringify(lines)).not.toContain("session=hidden");
});

test("afterwards I1 to I10 hold", async () => {
  const { violations } = await bench.settle();
  expect(violations).toEqual([]);
});
