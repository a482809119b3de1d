import { randomUUID } from "node:crypto";
import { join } from "node:path";

import { afterAll, beforeAll, expect, test } from "vitest";

import { HttpCallHistory } from "../../runtime/adapters/http/history/http-call-history.ts";
import { MemoryCallLedger } from "../support/memory/memory-call-ledger.ts";
import { errorCodes, type ErrorCode } from "../../runtime/api/platform-error.ts";
import { ledgerWith } from "../contract/samples.ts";
import { checkAnswer } from "../support/api-answers.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import {
  openFunctionServer,
  openRawFunction,
  type FunctionServer,
  type RawFunction,
} from "../support/function-server.ts";
import { HistoryGateway } from "../support/history-gateway.ts";
import { openMemoryAsyncInvoker, type MemoryAsyncOptions } from "../support/memory-async-invoker.ts";
import { openPlatform, type Platform } from "../support/platform.ts";
import { openSyncGateway } from "../support/sync-gateway.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { openTestConsole } from "../support/test-console.ts";
import { sendVerbatim } from "../support/verbatim-request.ts";
import { openRestPlatform } from "../support/rest-platform.ts";

/** Every error code of the contract, produced by a request to a real server. */
let platform: Platform;
let held: FunctionServer;
let broken: RawFunction;
/** A call that runs, or waits for its next run, as long as the test. */
let unfinished = "";
let ended = "";
/** The responses of a platform whose queue was filled, and whose broker was then killed. */
let overfull: Response;
let brokerless: { readonly queue: Response; readonly list: Response };

beforeAll(async () => {
  platform = await openPlatform({
    slots: 2,
    retryAttempts: 100,
    upstreamTimeout: 1_000,
    wakeTimeout: 300,
  });
  held = await openFunctionServer((request, response) => {
    if (request.url === "/answer") response.end();
    if (request.url === "/fail") response.writeHead(500).end();
  });
  broken = await openRawFunction("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab");
  await platform.deploy("held", { addresses: [held.address] });
  await platform.deploy("one-at-a-time", {
    addresses: [held.address],
    annotations: { "com.service.concurrency.max": "1" },
  });
  await platform.deploy("shaky", {
    addresses: [held.address],
    annotations: { "com.service.retry.attempts": "0" },
  });
  await platform.deploy("broken", { addresses: [broken.address] });
  await platform.deploy("refusing", { addresses: [`127.0.0.1:${await freePort()}`] });
  await platform.deploy("absent", { addresses: [] });
  ended = await platform.calls.accepted("held", { tail: "/answer" });
  await platform.calls.ended(ended);
  unfinished = await platform.calls.accepted("held");
  await gatherFailures();
});
afterAll(async () => {
  await platform?.close();
  await held?.close();
  await broken?.close();
});

/** The status that the contract (§1.7) gives a code, and how to provoke it. */
type Row = readonly [status: number, provoke: () => Promise<Response>];

const unknown = randomUUID();
const hello = { service: "hello", image: "hello:1" };

async function ask(
  method: string,
  target: string,
  body?: unknown,
  headers: readonly string[] = [],
  { port, authorization }: Pick<Platform, "port" | "authorization"> = platform,
): Promise<Response> {
  const names = headers.map((name) => name.toLowerCase());
  const response = await sendVerbatim(port, {
    method,
    target,
    headers: [
      ...headers,
      "Accept",
      "application/json",
      ...(names.includes("authorization") ? [] : ["Authorization", authorization]),
    ],
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  await checkAnswer(method, target, response);
  return response;
}

/** The response to the second of two equal requests. */
async function second(method: string, target: string, body: unknown): Promise<Response> {
  await ask(method, target, body);
  return ask(method, target, body);
}

const rows: Readonly<Record<ErrorCode, Row>> = {
  malformed_request: [400, () => ask("PUT", "/system/functions", "{")],
  validation_failed: [400, () => ask("PUT", "/system/functions", { ...hello, service: "Hello" })],
  invalid_callback_url: [400, () => ask("POST", "/async-function/held", "", ["X-Callback-Url", "word"])],
  credentials_required: [401, () => ask("GET", "/system/info", undefined, ["Authorization", ""])],
  credentials_invalid: [401, () => ask("GET", "/system/info", undefined, ["Authorization", "Basic eDp5"])],
  forbidden: [403, () => ask("DELETE", "/system/namespace/functions")],
  cross_origin: [403, () => ask("GET", "/system/info", undefined, ["Origin", "https://evil.example"])],
  edition_limit: [
    403,
    () => ask("PUT", "/system/functions", { ...hello, annotations: { "com.service.queue": "slow" } }),
  ],
  namespace_reserved: [403, () => ask("GET", "/system/functions?namespace=kube-system")],
  route_not_found: [404, () => ask("GET", "/system/nope")],
  function_not_found: [404, () => ask("GET", "/system/function/nobody")],
  namespace_not_found: [404, () => ask("GET", "/system/namespace/nowhere")],
  secret_not_found: [404, () => ask("DELETE", "/system/secrets", { name: "nobody" })],
  queue_not_found: [404, queueNotFound],
  call_not_found: [404, () => ask("GET", `/async-function/${unknown}`)],
  result_not_found: [404, resultNotFound],
  request_not_kept: [404, () => ofCall("GET", "request")],
  history_off: [404, historyOff],
  method_not_allowed: [405, () => ask("PATCH", "/system/functions")],
  request_timeout: [408, requestTimeout],
  function_exists: [409, () => second("POST", "/system/functions", hello)],
  secret_exists: [409, () => second("POST", "/system/secrets", { name: "key", value: "x" })],
  namespace_exists: [409, () => second("POST", "/system/namespaces", { name: "dev" })],
  call_finished: [409, () => ask("DELETE", `/async-function/${ended}`)],
  call_not_finished: [409, () => ask("GET", `/async-function/${unfinished}/result`)],
  call_not_redrivable: [409, callNotRedrivable],
  call_not_replayable: [409, () => ofCall("POST", "replay")],
  not_ready: [409, () => ask("PUT", "/system/functions?wait=10ms", hello)],
  payload_too_large: [413, () => ask("POST", "/async-function/held", "x".repeat(1_048_577))],
  target_too_long: [414, () => ask("GET", `/function/held?${"x".repeat(8_192)}`)],
  unsupported_media_type: [415, () => ask("PUT", "/system/functions", hello, ["Content-Encoding", "gzip"])],
  expectation_failed: [417, () => ask("GET", "/function/held", undefined, ["Expect", "200-ok"])],
  wrong_host: [421, wrongHost],
  log_query_invalid: [422, () => ask("GET", "/system/logs?name=held&tail=abc")],
  too_many_logins: [429, tooManyLogins],
  too_many_calls: [429, tooManyCalls],
  too_many_streams: [429, tooManyStreams],
  queue_full: [429, async () => overfull],
  store_full: [429, storeFull],
  headers_too_large: [
    431,
    () => ask("GET", "/function/held", undefined, Array.from({ length: 100 }, () => ["X", "1"]).flat()),
  ],
  internal_error: [500, internalError],
  not_built: [501, notBuilt],
  function_unreachable: [502, () => ask("GET", "/function/refusing")],
  bad_function_reply: [502, () => ask("GET", "/function/broken")],
  no_ready_replica: [503, () => ask("GET", "/function/absent")],
  queue_unavailable: [503, async () => brokerless.queue],
  history_unavailable: [503, historyUnavailable],
  provider_unavailable: [503, async () => brokerless.list],
  function_timeout: [504, () => ask("GET", "/function/held")],
};

test.each(errorCodes)("%s", async (code) => {
  const [status, provoke] = rows[code];
  const response = await provoke();
  const text = await response.text();

  expect(JSON.parse(text), text).toEqual({
    type: `urn:weir:error:${code}`,
    title: expect.any(String),
    status,
    detail: expect.stringMatching(/^Cannot .+: .+[^.\n]$/),
    instance: expect.stringMatching(/^\//),
    code,
    ...(response.headers.has("x-call-id") ? { callId: response.headers.get("x-call-id") } : {}),
  });
  expect(response.status).toBe(status);
  expect(response.headers.get("content-type")).toBe("application/problem+json");
  expect(response.headers.get("x-content-type-options")).toBe("nosniff");
  const retryAfter = Number(response.headers.get("retry-after") ?? Number.NaN);
  expect(retryAfter >= 1 && retryAfter <= 30).toBe([429, 503].includes(response.status));
});

/** The response of a gateway that keeps its calls in memory. */
async function callKeptInMemory(name: string, target: string, options: MemoryAsyncOptions): Promise<Response> {
  const gateway = await openSyncGateway({ invokeAsync: (...call) => invokeAsync(...call) });
  const invokeAsync = openMemoryAsyncInvoker(gateway.table, { edition: "enterprise", ...options });
  gateway.deploy(name, { annotations: { "com.service.queue": target } });
  const headers = ["Accept", "application/json"];
  const response = await sendVerbatim(gateway.port, { method: "POST", target: `/async-function/${name}`, headers });
  await gateway.close();
  return response;
}

function queueNotFound(): Promise<Response> {
  return callKeptInMemory("apart", "apart", {});
}

function storeFull(): Promise<Response> {
  const full = { create: async () => ({ kind: "refused", because: "store-full" }) as const };
  return callKeptInMemory("stored", "default", { ledger: ledgerWith(new MemoryCallLedger(), full) });
}

async function wrongHost(): Promise<Response> {
  await using opened = await openTestConsole();
  return opened.send("GET", "/system/info", { host: "evil.example" });
}

async function resultNotFound(): Promise<Response> {
  const id = await platform.calls.accepted("held");
  await platform.calls.cancel(id);
  return ask("GET", `/async-function/${id}/result`);
}

/** The call was given up, and then its function was removed. */
async function callNotRedrivable(): Promise<Response> {
  const id = await platform.calls.accepted("shaky", { tail: "/fail" });
  await eventually(() => platform.broker.deadLetter(id), { what: "the dead letter" });
  await platform.undeploy("shaky");
  await eventually(async () => (await platform.calls.send("GET", "/function/shaky/answer")).status === 404, {
    what: "the gateway to know that the function is gone",
  });
  return ask("POST", `/system/queue/default/dead-letters/${id}/redrive`);
}

async function requestTimeout(): Promise<Response> {
  await using impatient = await openRestPlatform({ bodyIdleTimeout: 200 });
  const headers = ["Accept", "application/json", "Authorization", impatient.authorization, "Content-Length", "9"];
  return await sendVerbatim(impatient.port, { method: "PUT", target: "/system/functions", headers, body: "{" });
}

async function tooManyLogins(): Promise<Response> {
  await using fresh = await openRestPlatform();
  const wrong = { accept: "application/json", authorization: "Basic eDp5" };
  for (let count = 0; count < 20; count += 1) await fresh.call("GET", "/system/info", undefined, wrong);
  return await fresh.call("GET", "/system/info", undefined, wrong);
}

async function tooManyCalls(): Promise<Response> {
  const first = ask("GET", "/function/one-at-a-time");
  try {
    return await eventually(
      async () => {
        const response = await ask("GET", "/function/one-at-a-time");
        return response.status === 429 ? response : undefined;
      },
      { what: "a call that is one too many" },
    );
  } finally {
    await first;
  }
}

async function tooManyStreams(): Promise<Response> {
  await using fresh = await openRestPlatform();
  await fresh.call("PUT", "/system/functions", hello);
  const headers = { accept: "application/json" };
  const streams = await Promise.all(
    Array.from({ length: 200 }, () => fresh.call("GET", "/system/logs?name=hello&follow=1", undefined, headers)),
  );
  const response = await fresh.call("GET", "/system/logs?name=hello", undefined, headers);
  for (const stream of streams) await stream.body?.cancel();
  return response;
}

async function gatherFailures(): Promise<void> {
  await using failing = await openPlatform({ slots: 1, maxLength: 3, retryAttempts: 100, upstreamTimeout: 1_000 });
  await failing.deploy("held", { addresses: [held.address] });
  const queueCall = () => ask("POST", "/async-function/held", undefined, [], failing);
  overfull = await eventually(
    async () => {
      const response = await queueCall();
      return response.status === 202 ? undefined : response;
    },
    { what: "the queue to be full" },
  );
  await failing.server.kill();
  brokerless = { queue: await queueCall(), list: await ask("GET", "/system/functions", undefined, [], failing) };
}

async function historyOff(): Promise<Response> {
  await using without = await openRestPlatform({ history: undefined });
  return await without.call("GET", "/system/calls", undefined, { accept: "application/json" });
}

/** The response about a call that has ended, and of which nothing was kept but its record. */
async function ofCall(method: string, what: string): Promise<Response> {
  await using opened = await HistoryGateway.open();
  const path = `/system/calls/${await opened.write(1)}/${what}`;
  return await opened.platform.call(method, path, undefined, { accept: "application/json" });
}

/** The process that keeps the history is not there. */
async function historyUnavailable(): Promise<Response> {
  await using directory = await tempDirectory("no-history");
  const reads = new HttpCallHistory({ address: join(directory.path, "api.sock") });
  const history = { reads, progress: () => reads.progress(), remove: (id: string) => reads.remove(id) };
  await using without = await openRestPlatform({ history });
  const response = await without.call("GET", "/system/calls", undefined, { accept: "application/json" });
  await reads.close();
  return response;
}

async function notBuilt(): Promise<Response> {
  await using withIam = await openRestPlatform({ edition: "enterprise" });
  return await withIam.call("GET", "/.well-known/jwks.json", undefined, { accept: "application/json" });
}

async function internalError(): Promise<Response> {
  await using defect = await openRestPlatform({
    invocations: () => {
      throw new Error("boom");
    },
  });
  await defect.call("PUT", "/system/functions", hello);
  return await defect.call("GET", "/system/functions", undefined, { accept: "application/json" });
}
