import { randomUUID } from "node:crypto";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { openFunctionServer, type FunctionServer } from "../support/function-server.ts";
import { openPlatform, type Platform } from "../support/platform.ts";

const limit = 1_048_576;

let platform: Platform;
let echo: FunctionServer;

beforeAll(async () => {
  platform = await openPlatform();
  echo = await openFunctionServer();
  await platform.deploy("echo", { addresses: [echo.address] });
  await platform.deploy("locked", { addresses: [echo.address], annotations: { "com.service.auth": "required" } });
});

afterAll(async () => {
  await platform?.close();
  await echo?.close();
});

const code = (body: Buffer): unknown => JSON.parse(body.toString()).code;
const json = { accept: "application/json" };

describe("checks before a call is queued", () => {
  test.each(["PUT", "PATCH", "OPTIONS"])("%s is 405 and allows POST", async (method) => {
    const response = await platform.calls.queue("echo", { method, headers: json });

    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("POST, GET, HEAD, DELETE");
    expect(code(response.body)).toBe("method_not_allowed");
  });

  test.each([
    "not a url",
    "/relative",
    "ftp://example.com/",
    "http://user:secret@example.com/",
    "http://169.254.169.254/latest/meta-data",
    "http://0.0.0.0/",
    "http://[fe80::1]/",
    "http://224.0.0.1/",
  ])("callback URL %s is 400", async (callbackUrl) => {
    const response = await platform.calls.queue("echo", { callbackUrl, headers: json });

    expect(response.status).toBe(400);
    expect(code(response.body)).toBe("invalid_callback_url");
    expect(response.body.toString()).not.toContain("secret");
  });

  test("a callback URL of 2 048 characters is accepted, a longer one is 400", async () => {
    const callbackUrl = `http://127.0.0.1:9/${"x".repeat(2_048)}`;

    expect((await platform.calls.queue("echo", { callbackUrl: callbackUrl.slice(0, 2_049) })).status).toBe(400);
    expect((await platform.calls.queue("echo", { callbackUrl: callbackUrl.slice(0, 2_048) })).status).toBe(202);
  });

  test.each(["none", "echo.elsewhere", "Echo", "%65cho", ""])("function %j is 404", async (name) => {
    const response = await platform.calls.queue(name, { headers: json });

    expect(response.status).toBe(404);
    expect(code(response.body)).toBe("function_not_found");
  });

  test("names with the default namespace and its alias mean the function", async () => {
    for (const name of ["echo.functions", "echo.openfaas-fn"]) {
      expect((await platform.calls.ended(await platform.calls.accepted(name))).functionName).toBe("echo");
    }
  });

  test("a function that needs credentials: 401 without and with wrong ones, 202 with the right ones", async () => {
    const none = await platform.calls.queue("locked");
    expect(none.status).toBe(401);
    expect(none.body.toString()).toBe("invalid credentials");
    expect(none.headers.get("www-authenticate")).toBe('Basic realm="Restricted"');
    const wrong = `Basic ${Buffer.from("admin:wrong").toString("base64")}`;
    expect((await platform.calls.queue("locked", { headers: { authorization: wrong } })).status).toBe(401);

    const id = await platform.calls.accepted("locked", { headers: { authorization: platform.authorization } });
    expect((await platform.calls.send("GET", `/async-function/${id}`)).status).toBe(401);
    expect((await platform.calls.cancel(id)).status).toBe(401);
    const seen = await platform.calls.send("GET", `/async-function/${id}?wait=5s`, {
      headers: { authorization: platform.authorization },
    });
    expect(JSON.parse(seen.body.toString())).toMatchObject({ state: "done" });
  });

  test("a named queue is beyond the edition: refused at deploy", async () => {
    const response = await platform.calls.send("PUT", "/system/functions", {
      headers: { authorization: platform.authorization, ...json },
      body: JSON.stringify({ service: "apart", image: "none", annotations: { "com.service.queue": "apart" } }),
    });

    expect(response.status).toBe(403);
    expect(code(response.body)).toBe("edition_limit");
  });

  test("the first check that fails decides: callback URL, function, credentials, size", async () => {
    const body = new Uint8Array(limit + 1);
    const bad = { callbackUrl: "nonsense", headers: json, body };

    expect(code((await platform.calls.queue("none", bad)).body)).toBe("invalid_callback_url");
    expect(code((await platform.calls.queue("none", { headers: json, body })).body)).toBe("function_not_found");
    expect(code((await platform.calls.queue("locked", { headers: json, body })).body)).toBe("credentials_required");
    expect(code((await platform.calls.queue("echo", { headers: json, body })).body)).toBe("payload_too_large");
    expect((await platform.calls.queue("none", { ...bad, method: "PUT" })).status).toBe(405);
  });

  test("what was refused has no record, no message and no run", async () => {
    const before = echo.requests.length;
    const id = randomUUID();
    await platform.calls.queue("echo", { id, body: new Uint8Array(limit + 1) });
    await platform.calls.queue("none", { id });
    await platform.calls.queue("echo", { id, callbackUrl: "nonsense" });

    expect(await platform.broker.ledger.read(id)).toBeUndefined();
    expect((await platform.calls.send("GET", `/async-function/${id}`)).status).toBe(404);
    expect((await platform.broker.calls()).messages).toBe(0);
    expect(echo.requests.length).toBe(before);
  });

  test("errors carry the call id", async () => {
    const id = randomUUID();
    const response = await platform.calls.queue("none", { id, headers: json });

    expect(response.headers.get("x-call-id")).toBe(id);
    expect(JSON.parse(response.body.toString())).toMatchObject({
      status: 404,
      callId: id,
      type: "urn:weir:error:function_not_found",
    });
  });
});

describe("status, result and cancel of an unknown call", () => {
  const unknown = "00000000-0000-4000-8000-000000000000";

  test("an unknown call is 404 everywhere", async () => {
    expect((await platform.calls.send("GET", `/async-function/${unknown}`)).status).toBe(404);
    expect((await platform.calls.result(unknown)).status).toBe(404);
    expect((await platform.calls.cancel(unknown)).status).toBe(404);
    expect((await platform.calls.cancel(unknown, "echo")).status).toBe(404);
  });

  test("an id that is not a UUID is 400 for DELETE and GET", async () => {
    expect((await platform.calls.send("DELETE", "/async-function/echo")).status).toBe(400);
    expect((await platform.calls.send("DELETE", "/async-function/echo/17")).status).toBe(400);
    expect((await platform.calls.send("GET", "/async-function/echo")).status).toBe(400);
    expect((await platform.calls.send("GET", "/async-function/echo/result")).status).toBe(400);
  });

  test("an unreadable wait is 400", async () => {
    const id = await platform.calls.accepted("echo");

    expect((await platform.calls.send("GET", `/async-function/${id}?wait=soon`)).status).toBe(400);
    expect((await platform.calls.send("GET", `/async-function/${id}?wait=-1s`)).status).toBe(400);
  });

  test("POST to such a path calls a function of that name", async () => {
    expect((await platform.calls.send("POST", `/async-function/${unknown}`)).status).toBe(404);
    await platform.deploy(unknown, { addresses: [echo.address] });
    const id = await platform.calls.accepted(unknown);

    expect((await platform.calls.ended(id)).functionName).toBe(unknown);
  });
});
