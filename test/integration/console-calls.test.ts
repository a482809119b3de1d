import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";

import { header } from "../../runtime/api/names.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { openFunctionServer, type FunctionServer } from "../support/function-server.ts";
import { openPlatform, type Platform } from "../support/platform.ts";
import { browsedConsole, TestBrowser, type BrowsedConsole, type SentHeaders } from "../support/test-console.ts";
import { sendVerbatim } from "../support/verbatim-request.ts";

/** Calls that pages of the console make, on a real gateway with a broker and a queue-worker. */
let platform: Platform;
let echo: FunctionServer;
let opened: BrowsedConsole;
let page: TestBrowser;
const release: (() => void)[] = [];

const limit = 8_388_608;
const hostile = "<script>alert(1)</script>";

beforeAll(async () => {
  const consolePort = await freePort();
  platform = await openPlatform({ gatewayFlags: ["--console-port", `${consolePort}`, "--upstream-timeout", "5s"] });
  opened = browsedConsole(consolePort, platform);
  echo = await openFunctionServer((request, response, body) => {
    const path = (request.url ?? "").split("?", 1)[0];
    if (path === "/wait") release.push(() => response.end("late"));
    else if (path === "/big") response.end(Buffer.alloc(limit + 1, "x"));
    else if (path === "/fits") response.end(Buffer.alloc(limit, "x"));
    else if (path === "/reset") response.destroy();
    else if (path === "/page") {
      const cookies = ["weir-session=mine; Path=/", "theme=dark"];
      response.writeHead(418, { "content-type": "text/html", "service-worker-allowed": "/", "set-cookie": cookies });
      response.end(hostile);
    } else response.end(body, "latin1");
  });
  await platform.deploy("echo", { addresses: [echo.address] });
  await platform.deploy("closed", {
    addresses: [echo.address],
    annotations: { "com.service.auth": "required" },
  });
  page = new TestBrowser(opened);
  await eventually(async () => (await page.signIn()).status === 204, { what: "a session" });
});
afterAll(async () => {
  for (const end of release) end();
  await platform?.close();
  await echo?.close();
});
beforeEach(() => {
  echo.requests.length = 0;
});

const own = { "x-weir-console": "1" };

/** What the page sends to try a function. */
function tryIt(method: string, target: string, body?: Uint8Array, over: SentHeaders = {}): Promise<Response> {
  return page.send(method, `/ui/try/${target}`, body, { ...own, ...over });
}

async function problemOf(reply: Response): Promise<readonly [number, string]> {
  const { code }: { readonly code: string } = JSON.parse(await reply.text());
  return [reply.status, code];
}

function said(reply: Response): readonly (readonly [string, string])[] {
  const pairs: readonly (readonly [string, string])[] = JSON.parse(reply.headers.get("x-weir-headers") ?? "[]");
  return pairs.map(([name, value]) => [name.toLowerCase(), value]);
}

describe("a call of a page", () => {
  test("reaches the function as a client's does, without what is the console's", async () => {
    const sent = [
      ["X-A", "b"],
      ["Content-Type", "text/plain"],
      ["Cookie", "a=1; weir-session=x"],
    ];
    const reply = await tryIt("POST", "echo/a%2Fb/../c?x=1&y", Buffer.from("hé"), {
      "x-weir-headers": JSON.stringify(sent),
    });
    expect([reply.status, reply.headers.get("x-weir-status"), await reply.text()]).toEqual([200, "200", "hé"]);
    const [seen, ...others] = echo.requests;
    expect(others).toEqual([]);
    expect([seen?.method, seen?.target, seen?.body]).toEqual([
      "POST",
      "/a%2Fb/../c?x=1&y",
      Buffer.from("hé").toString("latin1"),
    ]);
    expect(seen?.headers).toMatchObject({
      "x-a": "b",
      "content-type": "text/plain",
      cookie: "a=1",
      "x-forwarded-for": "127.0.0.1",
      "x-forwarded-host": `127.0.0.1:${platform.port}`,
    });
    const names = Object.keys(seen?.headers ?? {});
    for (const name of [
      "origin",
      "authorization",
      "sec-fetch-site",
      "x-weir-session",
      "x-weir-console",
      "x-weir-headers",
    ])
      expect(names).not.toContain(name);
    expect(JSON.stringify(seen)).not.toContain(page.cookies.get("weir-session"));
  });

  test("is told what the function said as data", async () => {
    const reply = await tryIt("GET", "echo/page");
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      "content-type": "application/octet-stream",
      "content-disposition": "attachment",
      "content-security-policy": expect.stringMatching(/; sandbox$/),
      "x-content-type-options": "nosniff",
      "cross-origin-resource-policy": "same-origin",
      "cache-control": "no-store",
      "x-weir-status": "418",
    });
    expect(reply.headers.getSetCookie()).toEqual([]);
    expect(reply.headers.get("service-worker-allowed")).toBeNull();
    expect([reply.status, await reply.text()]).toEqual([200, hostile]);
    expect(said(reply)).toEqual(
      expect.arrayContaining([
        ["content-type", "text/html"],
        ["service-worker-allowed", "/"],
        ["set-cookie", "theme=dark"],
        [header.callId.toLowerCase(), expect.stringMatching(/^[0-9a-f-]{36}$/)],
      ]),
    );
    expect(JSON.stringify(said(reply))).not.toContain("weir-session");
  });

  test.each(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])("%s is its method", async (method) => {
    const reply = await tryIt(method, "echo.functions");
    expect([reply.status, reply.headers.get("x-weir-status")]).toEqual([200, "200"]);
    expect(echo.requests.map((seen) => [seen.method, seen.target])).toEqual([[method, "/"]]);
  });

  test.each([
    ["no header of a page", "POST", {}],
    ["another value of it", "GET", { "x-weir-console": "0" }],
    ["a page of another site", "GET", { ...own, "sec-fetch-site": "cross-site" }],
    ["a page of a function", "POST", { ...own, "sec-fetch-site": "same-site", origin: "http://127.0.0.1:8080" }],
    ["the address bar", "GET", { ...own, "sec-fetch-site": "none" }],
    ["a sandboxed page", "POST", { ...own, origin: "null" }],
  ])("with %s is refused before the function", async (_, method, over) => {
    const reply = await page.send(method, "/ui/try/echo", undefined, over);
    expect(await problemOf(reply)).toEqual([403, "cross_origin"]);
    expect(echo.requests).toEqual([]);
  });

  test.each([
    ["a path", "/ui/try/echo/a/b", ["/ui/try", "/ui/try/", "/ui/try/echo", "/ui/try/echo/a/", "/ui/try/echo/a/b"]],
    [
      "a path with an attribute",
      "/ui/try/echo/a;Domain=evil.example/b",
      ["/ui/try/echo", "/ui/try/echo/", "/ui/try/echo/a"],
    ],
    ["a long path", `/ui/try/echo${"/x".repeat(2_000)}`, ["/ui/try/echo", "/ui/try/echo/x/x/x/x/x"]],
  ])("to %s with another cookie of the name is 401, and that is ended on the way there", async (_, target, paths) => {
    const cookie = `weir-session=${page.cookies.get("weir-session")}; weir-session=other`;
    const before = new Map(page.cookies);
    const reply = await page.send("POST", target, undefined, { ...own, cookie });
    for (const [name, value] of before) page.cookies.set(name, value);
    const lines = reply.headers.getSetCookie();
    const ended = lines.flatMap((line) => /^weir-session=; Path=([^;]*); Max-Age=0; HttpOnly;/.exec(line)?.[1] ?? []);
    expect(ended).toEqual(expect.arrayContaining(paths));
    expect(ended).toHaveLength(lines.length);
    expect(lines.join()).not.toContain("Domain");
    expect(lines.length).toBeLessThan(50);
    expect(await problemOf(reply)).toEqual([401, "credentials_invalid"]);
    expect(echo.requests).toEqual([]);
  });

  test("of nobody is 401", async () => {
    const nobody = new TestBrowser(opened);
    expect(await problemOf(await nobody.send("POST", "/ui/try/echo", undefined, own))).toEqual([
      401,
      "credentials_required",
    ]);
    expect(echo.requests).toEqual([]);
  });

  test("tells a protected function who is signed in", async () => {
    const reply = await tryIt("POST", "closed");
    expect(reply.headers.get("x-weir-status")).toBe("200");
    expect(JSON.stringify(echo.requests[0]?.headers)).toContain("admin");
    expect((await fetch(`${platform.url}/function/closed`)).status).toBe(401);
  });

  test("may be 8 MiB long", async () => {
    const body = Buffer.alloc(limit, "y");
    const reply = await tryIt("POST", "echo", body);
    expect([reply.status, (await reply.arrayBuffer()).byteLength]).toEqual([200, limit]);
    expect(reply.headers.has("x-weir-truncated")).toBe(false);
    expect(await problemOf(await tryIt("POST", "echo", Buffer.alloc(limit + 1, "y")))).toEqual([
      413,
      "payload_too_large",
    ]);
    const chunked = await tryIt("POST", "echo", Buffer.alloc(limit + 1, "y"), { "transfer-encoding": "chunked" });
    expect(await problemOf(chunked)).toEqual([413, "payload_too_large"]);
    expect(echo.requests).toHaveLength(1);
  });

  test("is told 8 MiB of the reply, and that there is more", async () => {
    const [fits, big] = [await tryIt("GET", "echo/fits"), await tryIt("GET", "echo/big")];
    expect([(await fits.arrayBuffer()).byteLength, fits.headers.get("x-weir-truncated")]).toEqual([limit, null]);
    expect([(await big.arrayBuffer()).byteLength, big.headers.get("x-weir-truncated")]).toEqual([limit, "true"]);
    await eventually(() => echo.open === release.length, { what: "the broken-off call to end" });
  });

  test("that the gateway refuses is an error of this request", async () => {
    expect(await problemOf(await tryIt("GET", "nobody"))).toEqual([404, "function_not_found"]);
    expect(await problemOf(await tryIt("GET", "../x"))).toEqual([404, "function_not_found"]);
    expect(await problemOf(await tryIt("GET", "echo/reset"))).toEqual([502, "function_unreachable"]);
    const late = await tryIt("GET", "echo/wait");
    expect([late.headers.has("x-weir-status"), ...(await problemOf(late))]).toEqual([false, 504, "function_timeout"]);
    const bad = await tryIt("GET", "echo", undefined, { "x-weir-headers": "{" });
    expect(await problemOf(bad)).toEqual([400, "validation_failed"]);
  });
});

describe("a queued call of a page", () => {
  test("has a result that its page can read, and only so", async () => {
    const accepted = await tryIt("POST", "echo/page", Buffer.from("x"), { "x-weir-queued": "1" });
    expect(accepted.headers.get("x-weir-status")).toBe("202");
    const id = said(accepted).find(([name]) => name === header.callId.toLowerCase())?.[1] ?? "";
    const record = await platform.calls.ended(id);
    expect(record.state).toBe("failed");

    const done = await platform.calls.accepted("echo", { body: hostile });
    await platform.calls.ended(done);
    const reply = await page.send("GET", `/ui/result/${done}`, undefined, own);
    expect([reply.status, reply.headers.get("x-weir-status"), await reply.text()]).toEqual([200, "200", hostile]);
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      "content-type": "application/octet-stream",
      "content-disposition": "attachment",
      "content-security-policy": expect.stringMatching(/; sandbox$/),
    });
    expect(await problemOf(await page.send("GET", `/ui/result/${done}`))).toEqual([403, "cross_origin"]);
    const nobody = new TestBrowser(opened).send("GET", `/ui/result/${done}`, undefined, own);
    expect(await problemOf(await nobody)).toEqual([401, "credentials_required"]);
    const unknown = page.send("GET", "/ui/result/7f3c1d52-5c0e-4d7b-9a53-0f5d2f4f2f10", undefined, own);
    expect(await problemOf(await unknown)).toEqual([404, "call_not_found"]);
  });

  test("is POSTed", async () => {
    expect(await problemOf(await tryIt("GET", "echo", undefined, { "x-weir-queued": "1" }))).toEqual([
      400,
      "validation_failed",
    ]);
  });

  test("can be cancelled by its page", async () => {
    const id = await platform.calls.accepted("echo", { tail: "/wait" });
    await platform.calls.until(id, ["running"]);
    expect(await problemOf(await page.send("GET", `/ui/result/${id}`, undefined, own))).toEqual([
      409,
      "call_not_finished",
    ]);
    const foreign = page.send("DELETE", `/async-function/${id}`, undefined, { "sec-fetch-site": "same-site" });
    expect(await problemOf(await foreign)).toEqual([403, "cross_origin"]);
    expect((await platform.calls.status(id))?.state).toBe("running");
    const nobody = new TestBrowser(opened).send("DELETE", `/async-function/${id}`);
    expect(await problemOf(await nobody)).toEqual([401, "credentials_required"]);

    const reply = await page.send("DELETE", `/async-function/echo/${id}`);
    expect([reply.status, reply.headers.get("x-call-id")]).toEqual([202, id]);
    expect((await platform.calls.status(id))?.state).toBe("cancelled");
    const ended = await platform.calls.accepted("echo");
    await platform.calls.ended(ended);
    expect(await problemOf(await page.send("DELETE", `/async-function/${ended}`))).toEqual([409, "call_finished"]);
    expect((await page.send("POST", `/async-function/${id}`)).status).toBe(405);
    expect((await page.send("GET", `/async-function/${id}`)).status).toBe(405);
  });
});

describe("the port of functions", () => {
  const at = (path: string, headers: SentHeaders = {}, method = "GET"): Promise<Response> =>
    sendVerbatim(platform.port, { method, target: path, headers: Object.entries(headers).flat() });
  const leads = async (path: string, host?: string): Promise<readonly [number, string | null]> => {
    const reply = await at(path, host === undefined ? {} : { host });
    return [reply.status, reply.headers.get("location")];
  };

  test("leads people to the same page of the console, under the name that they typed", async () => {
    const { port } = opened;
    expect(await leads("/")).toEqual([307, `http://127.0.0.1:${port}/ui/`]);
    expect(await leads("/", `localhost:${platform.port}`)).toEqual([307, `http://localhost:${port}/ui/`]);
    expect((await leads("/", "evil.example"))[0]).toBe(421);
    expect(await leads("/ui")).toEqual([307, `http://127.0.0.1:${port}/ui/`]);
    expect(await leads("/ui?x=1")).toEqual([307, `http://127.0.0.1:${port}/ui/?x=1`]);
    expect(await leads("/ui/f/dev/hello?tab=logs")).toEqual([307, `http://127.0.0.1:${port}/ui/f/dev/hello?tab=logs`]);
    expect(await leads("/ui//evil.example")).toEqual([307, `http://127.0.0.1:${port}/ui//evil.example`]);
    expect((await leads("/ui/%2e%2e"))[0]).toBe(404);
    expect((await at("/ui/", {}, "HEAD")).status).toBe(307);
    expect((await at("/ui/", {}, "POST")).status).toBe(405);
    expect((await at("/uix")).status).toBe(404);
  });

  test("has none of the console's routes", async () => {
    for (const path of ["/auth/session", "/auth/login", "/auth/logout"]) expect((await at(path)).status).toBe(404);
    expect((await at("/ui/try/echo", own)).status).toBe(307);
    expect((await at("/ui/try/echo", own, "POST")).status).toBe(405);
    expect(echo.requests).toEqual([]);
  });

  test("does not know who is signed in", async () => {
    const session = { cookie: `weir-session=${page.cookies.get("weir-session")}`, "x-weir-session": page.half ?? "" };
    expect((await at("/system/functions", session)).status).toBe(401);
    const { authorization } = platform;
    expect((await at("/system/functions", { ...session, authorization })).status).toBe(200);
  });

  test.each(["same-origin", "same-site", "cross-site", "whatever"])(
    "answers no page of a function: %s",
    async (site) => {
      const { authorization } = platform;
      const sent = { authorization, "sec-fetch-site": site, accept: "application/json" };
      expect(await problemOf(await at("/system/functions", sent))).toEqual([403, "cross_origin"]);
      expect((await at("/system/functions", { ...sent, "sec-fetch-site": "none" })).status).toBe(200);
    },
  );
});
