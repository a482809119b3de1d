import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import pino from "pino";
import { afterEach, describe, expect, test } from "vitest";

import { errorCodes, PlatformError } from "../../../runtime/api/platform-error.ts";
import { publicly } from "../../../runtime/api/public-sentence.ts";
import {
  createErrorWriter,
  failedExchange,
  statusOf,
  type ErrorContext,
} from "../../../runtime/gateway/error-handler.ts";
import { errorText } from "../../../runtime/gateway/rest/error-text.ts";

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** The response to a client when a raw handler fails with `err`. */
async function responseTo(
  err: unknown,
  context: ErrorContext = {},
  path = "/function/x",
  headers: Record<string, string> = {},
) {
  const logged: unknown[] = [];
  const { writeError } = createErrorWriter(pino({}, { write: (line: string) => void logged.push(JSON.parse(line)) }));
  const server = createServer((request, response) => writeError(failedExchange(request, response), err, context));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(() => {
    server.close();
    server.closeAllConnections();
  });
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`, { headers });
  return { status: response.status, headers: response.headers, body: await response.text(), logged };
}

test("every code has a status of its contract", () => {
  for (const code of errorCodes) expect(statusOf(code), code).toBeGreaterThanOrEqual(400);
  expect(statusOf("headers_too_large")).toBe(431);
  expect(statusOf("log_query_invalid")).toBe(422);
});

describe("writeError()", () => {
  test("marks the gateway's own failures of calls, and never a 4xx", async () => {
    for (const [code, mark] of [
      ["function_unreachable", "gateway"],
      ["no_ready_replica", "gateway"],
      ["function_timeout", "gateway"],
      ["function_not_found", null],
      ["too_many_calls", null],
      ["internal_error", null],
    ] as const) {
      const { headers, body } = await responseTo(new PlatformError(code, publicly`Cannot call it: it is so`), {
        invocation: true,
        callId: "id-1",
      });
      expect([code, headers.get("x-openfaas-internal"), headers.get("x-call-id"), body]).toEqual([
        code,
        mark,
        "id-1",
        "Cannot call it: it is so\n",
      ]);
    }
    const { headers } = await responseTo(new PlatformError("provider_unavailable", "Cannot: so"), {}, "/system/info");
    expect(headers.get("x-openfaas-internal")).toBeNull();
  });

  test("states the outcome of a refused call", async () => {
    const err = new PlatformError("queue_unavailable", "Cannot queue: no answer", {
      callQueued: "unknown",
      callId: "id-2",
      retryAfterSeconds: 99,
    });
    const { status, headers, body } = await responseTo(err, { invocation: true }, "/async-function/x?y", {
      accept: "application/json",
    });
    expect(status).toBe(503);
    expect([headers.get("x-call-queued"), headers.get("x-call-id"), headers.get("retry-after")]).toEqual([
      "unknown",
      "id-2",
      "30",
    ]);
    expect(JSON.parse(body)).toMatchObject({
      callId: "id-2",
      instance: "/async-function/x",
      status: 503,
      title: "Service Unavailable",
    });
  });

  test("of failures behind the gateway, anyone gets only what was made for anyone; the log has the rest", async () => {
    const codes = errorCodes.filter((code) => statusOf(code) >= 500 || statusOf(code) === 429);
    for (const code of codes.filter((one) => one !== "too_many_logins")) {
      const err = new PlatformError(code, "Cannot call it: connect ECONNREFUSED 10.0.0.1:8080");
      const anyone = await responseTo(err, { invocation: true });
      expect([code, anyone.body]).toEqual([code, expect.not.stringContaining("10.0.0.1")]);
      expect(JSON.stringify(anyone.logged)).toContain("10.0.0.1");
      const operator = await responseTo(err, { audience: "operator" }, "/system/functions");
      expect(operator.body).toContain("10.0.0.1");
    }
    const quoting = new PlatformError("no_ready_replica", "it said: password", { publicly: publicly`it ended` });
    expect((await responseTo(quoting, { invocation: true })).body).toBe("it ended\n");
  });

  test("logs what it withholds once in ten seconds for each code", () => {
    const logged: unknown[] = [];
    let now = 0;
    const log = pino({}, { write: (line: string) => void logged.push(JSON.parse(line)) });
    const { writeError } = createErrorWriter(log, false, () => now);
    const head = { rawHeaders: [], headersSent: false, destroyed: false, destroy: () => {} };
    const exchange = { ...head, writeHead: () => ({ end: () => {} }) };
    for (const at of [0, 1_000, 9_999, 10_000]) {
      now = at;
      writeError(exchange, new PlatformError("queue_unavailable", `Cannot: ${at}`));
    }
    writeError(exchange, new PlatformError("provider_unavailable", "Cannot: other"));
    expect(logged.map((line) => (line as { err: { message: string } }).err.message)).toEqual([
      "Cannot: 0",
      "Cannot: 10000",
      "Cannot: other",
    ]);
  });

  test("reveals nothing of an unknown error, and logs it once", async () => {
    const { status, body, logged } = await responseTo(
      new TypeError("secret detail"),
      { callId: "id-3", traceParent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" },
      "/function/x?token=1",
    );
    expect([status, body]).toEqual([500, "Cannot answer this request: an internal error occurred\n"]);
    const traceId = "0af7651916cd43dd8448eb211c80319c";
    expect(logged).toMatchObject([{ callId: "id-3", traceId, path: "/function/x", err: { message: "secret detail" } }]);
    expect(JSON.stringify(logged)).not.toContain("token=1");
  });

  test.each([
    [false, false, [], 'Basic realm="Restricted"', undefined],
    [true, false, [], 'Basic realm="Restricted"', "required"],
    [false, true, [], 'Basic realm="Restricted", Bearer realm="weir"', undefined],
    [true, true, ["User-Agent", "curl/8"], 'Basic realm="Restricted", Bearer realm="IAM function invoke"', "required"],
    [false, false, ["Sec-Fetch-Site", "none"], undefined, undefined],
    [true, false, ["User-Agent", "Mozilla/5.0 (X11; Linux x86_64)"], undefined, "required"],
    [true, true, ["Sec-Fetch-Site", "same-origin"], 'Bearer realm="IAM function invoke"', "required"],
  ])(
    "says how to authenticate (call: %s, tokens: %s, by %j)",
    (invocation, withTokens, rawHeaders, challenge, asks) => {
      const { writeError } = createErrorWriter(pino({ level: "silent" }), withTokens);
      const sent: Record<string, string>[] = [];
      const exchange = {
        rawHeaders,
        headersSent: false,
        destroyed: false,
        writeHead: (_status: number, headers: Record<string, string>) => {
          sent.push(headers);
          return { end: () => {} };
        },
        destroy: () => {},
      };
      writeError(exchange, new PlatformError("credentials_invalid", "Cannot: so"), { invocation });
      expect(sent.map((headers) => [headers["WWW-Authenticate"], headers["X-Weir-Auth"]])).toEqual([[challenge, asks]]);
    },
  );

  test("aborts a reply that has begun", async () => {
    const { writeError } = createErrorWriter(pino({ level: "silent" }));
    const server = createServer((request, response) => {
      response.writeHead(200, { "content-length": 10 });
      response.write("half", () =>
        writeError(failedExchange(request, response), new PlatformError("function_unreachable", "Cannot: so")),
      );
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    closers.push(() => server.close());
    const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    await expect(response.text()).rejects.toThrow();
  });
});

test("JSON is for clients that list it, not for wildcards or clients that refuse it", () => {
  const facts = { code: "forbidden", status: 403, sentence: "Cannot: so", instance: "/", callId: undefined } as const;
  const type = (accept: string | undefined): string => errorText(facts, accept).type;
  for (const accept of ["application/json", "Application/Problem+JSON;q=0.1", "text/html, application/json"]) {
    expect(type(accept), accept).toBe("application/problem+json");
  }
  for (const accept of [
    undefined,
    "",
    "*/*",
    "application/*",
    "application/json;q=0",
    "application/jsonx",
    "text/plain",
  ]) {
    expect(type(accept), accept).toBe("text/plain; charset=utf-8");
  }
});
