import { randomUUID } from "node:crypto";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { checkAnswer } from "../support/api-answers.ts";
import { eventually } from "../support/eventually.ts";
import {
  openFunctionServer,
  openRawFunction,
  type FunctionServer,
  type RawFunction,
} from "../support/function-server.ts";
import { openMemoryAsyncInvoker } from "../support/memory-async-invoker.ts";
import { openPlatform, type Platform } from "../support/platform.ts";
import { rawRequest } from "../support/raw-client.ts";
import { openSyncGateway } from "../support/sync-gateway.ts";
import { sendVerbatim, type VerbatimRequest } from "../support/verbatim-request.ts";

/** The contract's bad-input table, rows of calls and of HTTP itself; those of `/system/` are in `bad-input-system`. */
const mebibyte = 1_048_576;
/** Milliseconds. In the test profile a head must arrive within 2 s, and the idle timeout of a body is 5 s. */
const slow = 12_000;

let platform: Platform;
let echo: FunctionServer;
let twoLengths: RawFunction;
let status999: RawFunction;
let held: FunctionServer;
/** By their placeholders in the rows. */
const ids = { UNKNOWN: randomUUID(), ENDED: "", RUNNING: "", CANCELLED: "" };

beforeAll(async () => {
  platform = await openPlatform({ slots: 2 });
  echo = await openFunctionServer();
  held = await openFunctionServer(() => undefined);
  twoLengths = await openRawFunction("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc");
  status999 = await openRawFunction("HTTP/1.1 999 No\r\nContent-Length: 0\r\n\r\n");
  const functions = { echo, held, "two-lengths": twoLengths, "status-999": status999 };
  for (const [name, { address }] of Object.entries(functions)) await platform.deploy(name, { addresses: [address] });
  ids.ENDED = await platform.calls.accepted("echo");
  await platform.calls.ended(ids.ENDED);
  ids.RUNNING = await platform.calls.accepted("held");
  await platform.calls.until(ids.RUNNING, ["running"]);
  ids.CANCELLED = await platform.calls.accepted("held");
  expect((await platform.calls.cancel(ids.CANCELLED)).status).toBe(202);
});
afterAll(async () => {
  await platform?.close();
  for (const each of [echo, held, twoLengths, status999]) await each?.close();
});

type Row = readonly [input: string, status: number, code: string | undefined, request: VerbatimRequest];

const get = (target: string, ...headers: string[]): VerbatimRequest => ({ target, headers });
const queue = (...headers: string[]): VerbatimRequest => ({ method: "POST", target: "/async-function/echo", headers });
const remove = (target: string): VerbatimRequest => ({ method: "DELETE", target });
const callback = (url: string): Row => [
  `X-Callback-Url ${url}`,
  400,
  "invalid_callback_url",
  queue("X-Callback-Url", url),
];
const twice = (name: string, value: string): Row => [
  `${name} twice`,
  400,
  "malformed_request",
  queue(name, value, name, value),
];

const rows: readonly Row[] = [
  ["GET /async-function/hello", 400, "malformed_request", get("/async-function/hello")],
  ...["PUT", "PATCH"].map((method): Row => [
    `${method} /async-function/hello`,
    405,
    "method_not_allowed",
    { method, target: "/async-function/hello" },
  ]),
  ["TRACE", 405, "method_not_allowed", { method: "TRACE", target: "/function/echo" }],

  ...["/function/", "/function/.openfaas-fn", "/function/a.b.c", "/function/%2e%2e"].map((target): Row => [
    target,
    404,
    "function_not_found",
    get(target),
  ]),
  ["Upgrade: h2c", 200, undefined, get("/function/echo", "Upgrade", "h2c", "Connection", "Upgrade")],
  ["X-Call-Id: 42", 200, undefined, get("/function/echo", "X-Call-Id", "42")],

  ...["word", "/rel", "ftp://x", "http://u:p@h/", "http://169.254.169.254/"].map(callback),
  twice("X-Call-Id", ids.UNKNOWN),
  twice("X-Callback-Url", "http://127.0.0.1:9/"),
  twice("Host", "gateway"),

  ["async body of 1 MiB", 202, undefined, { ...queue(), body: new Uint8Array(mebibyte) }],
  ["async body of 1 MiB + 1 byte", 413, "payload_too_large", { ...queue(), body: new Uint8Array(mebibyte + 1) }],
  ["async, unknown function", 404, "function_not_found", { method: "POST", target: "/async-function/nobody" }],

  ["DELETE /async-function/hello", 400, "malformed_request", remove("/async-function/hello")],
  ["DELETE /async-function/a/b/c", 400, "malformed_request", remove("/async-function/a/b/c")],
  ["cancel: unknown id", 404, "call_not_found", remove("/async-function/UNKNOWN")],
  ["cancel: finished", 409, "call_finished", remove("/async-function/ENDED")],
  ["cancel: a second time", 202, undefined, remove("/async-function/CANCELLED")],
  ["status ?wait=soon", 400, "validation_failed", get("/async-function/ENDED?wait=soon")],
  ["result of a running call", 409, "call_not_finished", get("/async-function/RUNNING/result")],

  [
    "Content-Length with Transfer-Encoding",
    400,
    undefined,
    { ...queue("Content-Length", "2", "Transfer-Encoding", "chunked"), body: "hi" },
  ],
  ["absolute-form target", 400, "malformed_request", get("http://elsewhere/function/echo")],
  ["target of 8 193 bytes", 414, "target_too_long", get(`/function/echo?${"a".repeat(8_193 - 15)}`)],
  ["head of 17 KiB", 431, undefined, get("/function/echo", "X-A", "a".repeat(17 * 1_024))],
  [
    "101 headers",
    431,
    "headers_too_large",
    get("/function/echo", ...Array.from({ length: 98 }, () => ["X-A", "1"]).flat()),
  ],
  ["Expect: 200-ok", 417, "expectation_failed", get("/function/echo", "Expect", "200-ok")],

  ["function reply with two lengths", 502, "bad_function_reply", get("/function/two-lengths")],
  ["function reply with status 999", 502, "bad_function_reply", get("/function/status-999")],
];

describe("bad input", () => {
  test.each(rows)("%s: %i", async (_input, status, code, request) => {
    const target = request.target.replace(/[A-Z]{5,}/, (name) => ids[name as keyof typeof ids] ?? name);
    const response = await sendVerbatim(platform.port, {
      ...request,
      target,
      headers: ["Accept", "application/json", ...(request.headers ?? [])],
    });
    if (target.startsWith("/")) await checkAnswer(request.method ?? "GET", target, response);
    const text = await response.text();

    expect(response.status, text).toBe(status);
    if (status >= 400) expect(text.at(-1), text).toBe("\n");
    expect(response.headers.get("x-content-type-options"), text).toBe(status === 200 ? null : "nosniff");
    if (code !== undefined)
      expect(JSON.parse(text)).toMatchObject({ code, status, detail: expect.stringMatching(/^Cannot .+: .+/) });
    const isCall = /^\/(async-)?function\//.test(target) && status !== 431;
    if (isCall && status !== 400) expect(response.headers.get("x-call-id")).toMatch(/^[0-9a-f-]{36}$/);
  });

  test("HEAD of status and result is like GET, without a body, for errors too", async () => {
    for (const path of [ids.ENDED, `${ids.ENDED}/result`, ids.UNKNOWN, `${ids.RUNNING}/result`, "echo"]) {
      const of = (method: string) => sendVerbatim(platform.port, { method, target: `/async-function/${path}` });
      const [whole, head] = [await of("GET"), await of("HEAD")];
      expect([head.status, await head.text()], path).toEqual([whole.status, ""]);
      if (head.status === 200) expect(head.headers.get("content-length")).toBe(whole.headers.get("content-length"));
    }
  });

  test("CONNECT: 405", async () => {
    const reply = await rawRequest(platform.port, "CONNECT g:443 HTTP/1.1\r\nHost: g:443\r\n\r\n");
    expect(reply).toMatchObject({ status: 405, closed: true });
  });

  test.concurrent.each([
    ["head not complete in time", "GET /system/info HTTP/1.1\r\nHost: x\r\nX-A:"],
    ["body silent", "POST /function/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc"],
    ["queued body silent", "POST /async-function/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc"],
    [
      "chunked body silent",
      "POST /async-function/echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
    ],
  ])("%s: 408, closed", async (_input, bytes) => {
    expect(await rawRequest(platform.port, bytes, slow)).toMatchObject({ status: 408, closed: true });
  });
});

test("async, queue not deployed: 404", async () => {
  const gateway = await openSyncGateway({ invokeAsync: (...call) => invokeAsync(...call) });
  const invokeAsync = openMemoryAsyncInvoker(gateway.table, { edition: "enterprise" });
  gateway.deploy("echo", { annotations: { "com.service.queue": "apart" } });
  const response = await sendVerbatim(gateway.port, queue("Accept", "application/json"));
  await gateway.close();

  expect([response.status, await response.json()]).toEqual([404, expect.objectContaining({ code: "queue_not_found" })]);
});

test("async, queue full: 429; broker unavailable: 503", async () => {
  const small = await openPlatform({ maxLength: 2 });
  const refusal = async () => {
    const response = await small.calls.queue("held", { headers: { accept: "application/json" } });
    return [response.status, JSON.parse(response.body.toString()).code, response.headers.get("x-call-queued")];
  };
  try {
    await small.deploy("held", { addresses: [held.address] });
    await small.calls.accepted("held");
    await small.calls.accepted("held");
    expect(await refusal()).toEqual([429, "queue_full", "no"]);
    await small.server.kill();
    await eventually(async () => String(await refusal()) === "503,queue_unavailable,no", {
      what: "the gateway to know that the broker is unavailable",
    });
  } finally {
    await small.close();
  }
});
