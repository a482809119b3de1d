import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import { openFunctionServer, type FunctionServer } from "../support/function-server.ts";
import { openPlatform, type Platform } from "../support/platform.ts";
import type { LogLine } from "../support/platform-process.ts";
import { rawRequest } from "../support/raw-client.ts";
import { openWebSocketFunction, type WebSocketFunction } from "../support/websocket-function.ts";

const canary = "canary-3141592653";
const trace = "0af7651916cd43dd8448eb211c80319c";
const traceparent = `00-${trace}-b7ad6b7169203331-01`;

let platform: Platform;
let echo: FunctionServer;
let chat: WebSocketFunction;

beforeAll(async () => {
  const flags = ["--access-log", "true", "--trusted-proxies", "127.0.0.1"];
  platform = await openPlatform({ gatewayFlags: flags });
  echo = await openFunctionServer((_request, response, body) => response.end(`${body}!`));
  chat = await openWebSocketFunction();
  await platform.deploy("echo", { addresses: [echo.address] });
  await platform.deploy("chat", { addresses: [chat.address] });
});
afterAll(async () => {
  await platform?.close();
  await echo?.close();
  await chat?.close();
});

const lines = (): LogLine[] => platform.gateway.log.filter(({ msg }) => msg === "call");
const lineOf = (callId: string): Promise<LogLine> =>
  eventually(() => lines().find((line) => line["callId"] === callId), {
    what: `the line of ${callId}`,
  });
const metrics = async (): Promise<string[]> => {
  const port = String(platform.gateway.ready["adminPort"]);
  return (await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()).split("\n");
};

describe("access log", () => {
  test("one line per call with its facts, and nothing of query, credentials or body", async () => {
    const reply = await platform.calls.send("POST", `/function/echo/path?token=${canary}`, {
      headers: {
        traceparent,
        authorization: `Bearer ${canary}`,
        cookie: canary,
        "x-api-key": canary,
        "x-forwarded-for": "203.0.113.7",
      },
      body: canary,
    });
    const line = await lineOf(reply.headers.get("x-call-id") ?? "");
    expect(line).toEqual({
      level: 30,
      time: expect.any(String),
      name: "gateway",
      msg: "call",
      callId: reply.headers.get("x-call-id"),
      functionName: "echo",
      namespace: "functions",
      method: "POST",
      status: 200,
      duration: expect.any(Number),
      bytesIn: canary.length,
      bytesOut: canary.length + 1,
      client: "203.0.113.7",
      traceId: trace,
    });
    expect(JSON.stringify(platform.gateway.log)).not.toContain(canary);
  });

  test("an asynchronous call has a line when its response is sent, with the id it got", async () => {
    const callId = "7f3a0b1c-0000-4000-8000-00000000000a";
    const send = (body: string) =>
      platform.calls.queue("echo", { id: callId, headers: { traceparent }, tail: `?q=${canary}`, body });
    await send(canary);
    // Another body under the same id gets a new id.
    const other = (await send("other")).headers.get("x-call-id") ?? "";
    expect(other).not.toBe(callId);
    const common = { functionName: "echo", namespace: "functions", method: "POST", status: 202, traceId: trace };
    expect(await lineOf(callId)).toMatchObject({ ...common, bytesIn: canary.length, bytesOut: 0 });
    expect(await lineOf(other)).toMatchObject({ ...common, bytesIn: 5 });
    for (const id of [callId, other]) await platform.calls.ended(id);
    expect(echo.requests.filter(({ headers }) => headers["x-call-id"] === other)[0]?.headers["traceparent"]).toBe(
      traceparent,
    );
    expect(JSON.stringify(platform.gateway.log)).not.toContain(canary);
  });

  test("refused calls and WebSockets have a line, other requests have none", async () => {
    const unknown = await platform.calls.send("GET", "/function/nobody.elsewhere/x");
    expect(await lineOf(unknown.headers.get("x-call-id") ?? "")).toMatchObject({
      functionName: "nobody",
      namespace: "elsewhere",
      status: 404,
      bytesOut: unknown.body.byteLength,
      client: "127.0.0.1",
    });
    const queued = await platform.calls.queue("nobody");
    expect(await lineOf(queued.headers.get("x-call-id") ?? "")).toMatchObject({ functionName: "nobody", status: 404 });

    const socket = new WebSocket(`${platform.url.replace("http", "ws")}/function/chat`);
    await once(socket, "open");
    expect(lines().some((line) => line["functionName"] === "chat")).toBe(false);
    socket.close();
    await eventually(() => lines().find((line) => line["functionName"] === "chat"), {
      what: "the line of the WebSocket",
    });
    expect(lines().find((line) => line["functionName"] === "chat")).toMatchObject({ status: 101, bytesIn: 6 });

    const before = lines().length;
    await platform.calls.send("GET", "/system/info", { headers: { authorization: platform.authorization } });
    await platform.calls.send("GET", "/async-function/7f3a0b1c-0000-4000-8000-00000000000b");
    const last = await platform.calls.send("GET", "/function/echo");
    await lineOf(last.headers.get("x-call-id") ?? "");
    expect(lines()).toHaveLength(before + 1);
  });
});

describe("metrics", () => {
  test("calls by function and status, with the family's names", async () => {
    await platform.calls.send("GET", "/function/echo.openfaas-fn");
    const text = await metrics();
    const labels = 'function_name="echo.functions",code="200"';
    const calls = text.find((line) => line.startsWith(`gateway_function_invocation_total{${labels}}`));
    const count = Number(calls?.split(" ")[1]);
    expect(count).toBeGreaterThan(0);
    expect(text).toContain("# TYPE gateway_functions_seconds histogram");
    expect(text).toContain(`gateway_functions_seconds_count{${labels}} ${count}`);
    expect(text).toContain(`gateway_functions_seconds_bucket{le="+Inf",${labels}} ${count}`);
    const buckets = text
      .filter((line) => line.startsWith("gateway_functions_seconds_bucket{") && line.includes(labels))
      .map((line) => Number(line.split(" ")[1]));
    expect(buckets).toEqual(buckets.toSorted((a, b) => a - b));
    expect(buckets).toHaveLength(19);
    expect(text).toContain(`gateway_function_invocation_started{function_name="echo.functions"} ${count}`);
    expect(text).toContain('gateway_service_count{function_name="echo.functions"} 1');
    expect(text).toContain('gateway_service_min{function_name="echo.functions"} 1');
    expect(text).toContain('gateway_service_target_load{function_name="echo.functions",scale_type="rps"} 50');
    expect(text).toContain('gateway_function_invocation_total{function_name="chat.functions",code="101"} 1');
  });

  test("a queued run is counted once, by the process that sent it to the function", async () => {
    const labels = { function_name: "echo.functions" };
    const name = "gateway_function_invocation_total";
    const before = await platform.metric(platform.gateway, name, labels);
    const ran = await platform.metric(platform.worker, name, labels);
    const { headers } = await platform.calls.queue("echo");
    await platform.calls.ended(headers.get("x-call-id") ?? "");

    expect(await platform.metric(platform.worker, name, { ...labels, code: "200" })).toBe(ran + 1);
    expect(await platform.metric(platform.worker, "gateway_functions_seconds_count", labels)).toBe(ran + 1);
    expect(await platform.metric(platform.worker, "gateway_function_invocation_started", labels)).toBe(ran + 1);
    expect(await platform.metric(platform.gateway, name, labels)).toBe(before);
  });

  test("requests by route: what clients invent creates no series", async () => {
    const { calls, authorization } = platform;
    for (let round = 0; round < 20; round += 1) {
      await calls.send("GET", `/function/made-up-${round}/x?y=${round}`);
      await calls.send("POST", `/async-function/made-up-${round}`);
      await calls.send("GET", `/made/up/${round}`);
      await calls.send("GET", `/system/function/made-up-${round}`, { headers: { authorization } });
      await calls.send("GET", `/system/made-up-${round}`, { headers: { authorization } });
    }
    await calls.send("PROPFIND", "/function/made-up");
    const text = await metrics();
    expect(text.filter((line) => line.includes("made"))).toEqual([]);
    for (const [path, method, code, least] of [
      ["/function/:name", "GET", "404", 20],
      ["/function/:name", "other", "404", 1],
      ["/async-function/:name", "POST", "404", 20],
      ["/system/function/:name", "GET", "404", 20],
      ["other", "GET", "404", 40],
    ] as const) {
      const labels = `path="${path}",method="${method}",code="${code}"`;
      const count = Number(text.find((line) => line.startsWith(`http_requests_total{${labels}}`))?.split(" ")[1]);
      expect([labels, count >= least]).toEqual([labels, true]);
      expect(text).toContain(`http_request_duration_seconds_count{${labels}} ${count}`);
    }
  });

  test("malformed requests count, too", async () => {
    const count = () =>
      platform.metric(platform.gateway, "http_requests_total", { path: "other", method: "GET", code: "417" });
    expect(await count()).toBe(0);
    await rawRequest(platform.port, "GET /function/echo HTTP/1.1\r\nHost: g\r\nExpect: 200-ok\r\n\r\n");
    expect(await count()).toBe(1);
  });

  test("the series of a removed function vanish", async () => {
    await platform.deploy("gone", { addresses: [echo.address] });
    await platform.calls.send("GET", "/function/gone");
    expect((await metrics()).filter((line) => line.includes("gone.functions")).length).toBeGreaterThan(20);
    await platform.undeploy("gone");
    await eventually(async () => (await metrics()).every((line) => !line.includes("gone.functions")), {
      what: "the series to vanish",
    });
  });
});
