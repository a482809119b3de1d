import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { openFunctionServer, type FunctionServer } from "../support/function-server.ts";
import { openPlatform, type Platform } from "../support/platform.ts";
import { noProxy, openProxy, type FrontProxy } from "../support/proxy-in-front.ts";
import { browsedConsole, TestBrowser } from "../support/test-console.ts";

/** The console behind nginx, configured as the page shows. */
const own = { "x-weir-console": "1" };

let platform: Platform;
let talkative: FunctionServer;
let nginx: FrontProxy;
let page: TestBrowser;

describe.skipIf(noProxy("nginx") !== undefined)("behind nginx the console", () => {
  beforeAll(async () => {
    const consolePort = await freePort();
    nginx = await openProxy("nginx", { gateways: [{ port: consolePort }], shownPort: "8081" });
    platform = await openPlatform({
      gatewayFlags: ["--console-port", `${consolePort}`, "--console-origins", nginx.url],
    });
    talkative = await openFunctionServer((_request, response) => {
      const lines = Array.from({ length: 80 }, (_, index) => [`x-${index}`, "y".repeat(100)] as const);
      response.writeHead(200, Object.fromEntries(lines)).end("many headers");
    });
    await platform.deploy("talkative", { addresses: [talkative.address] });
    page = new TestBrowser(browsedConsole(nginx.port, platform));
    await eventually(async () => (await page.signIn()).status === 204, { what: "a session" });
  });
  afterAll(async () => {
    await nginx?.close();
    await platform?.close();
    await talkative?.close();
  });

  test("signs in and reads", async () => {
    expect((await page.signIn()).headers.getSetCookie().length).toBeGreaterThan(10);
    expect((await page.send("GET", "/system/functions")).status).toBe(200);
  });

  test("ends all cookies of the name on the way to a deep path", async () => {
    const cookie = `weir-session=${page.cookies.get("weir-session")}; weir-session=other`;
    const before = new Map(page.cookies);
    const reply = await page.send("POST", `/ui/try/talkative${"/x".repeat(2_000)}`, undefined, { ...own, cookie });
    for (const [name, value] of before) page.cookies.set(name, value);
    expect(reply.status).toBe(401);
    expect(reply.headers.getSetCookie().length).toBeGreaterThan(20);
  });

  test("tells 10 KB of headers of a function", async () => {
    const reply = await page.send("GET", "/ui/try/talkative", undefined, own);
    expect([reply.status, await reply.text()]).toEqual([200, "many headers"]);
    expect(reply.headers.get("x-weir-headers")?.length).toBeGreaterThan(8_000);
  });

  test("passes changes on as they come", async () => {
    // Read as it comes, within a time: what the proxy holds back never comes.
    const { authorization } = platform;
    const reply = await fetch(`${nginx.url}/system/watch?on=functions`, {
      headers: { authorization },
      signal: AbortSignal.timeout(20_000),
    });
    const reader = reply.body?.getReader();
    const first = await reader?.read();
    await reader?.cancel();
    expect([reply.status, new TextDecoder().decode(first?.value)]).toEqual([200, expect.stringContaining("event: ")]);
  });
});
