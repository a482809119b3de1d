import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";

import { environment } from "../../runtime/process/settings.ts";
import { openTestConsole, TestBrowser, type SentHeaders, type TestConsole } from "../support/test-console.ts";

/** Who may send what to the console, by what browsers say of the page that sends it. */
let opened: TestConsole;
let browser: TestBrowser;

/** An origin that may call the port of the API. */
const allowedOrigin = "https://console.example";

beforeAll(async () => {
  opened = await openTestConsole();
});
afterAll(async () => {
  await opened?.[Symbol.asyncDispose]();
});
beforeEach(() => {
  browser = new TestBrowser(opened);
});

async function codeOf(reply: Response): Promise<readonly [number, string]> {
  const { code }: { readonly code: string } = JSON.parse(await reply.text());
  return [reply.status, code];
}

const credentials = (): object => ({ user: opened.platform.user, password: opened.platform.password });
const requests: readonly (readonly [method: string, path: string, body?: () => object])[] = [
  ["GET", "/auth/session"],
  ["GET", "/system/info"],
  ["GET", "/system/watch?on=queues"],
  ["POST", "/auth/session", credentials],
  ["POST", "/auth/logout"],
  ["PUT", "/system/functions", () => ({ service: "a", image: "b" })],
  ["POST", "/system/secrets", () => ({ name: "owned", value: "x" })],
  ["DELETE", "/system/functions", () => ({ functionName: "a" })],
];

const senders: readonly (readonly [string, () => SentHeaders])[] = [
  ["a page of another site", () => ({ "sec-fetch-site": "cross-site" })],
  ["a page of another port of this host", () => ({ "sec-fetch-site": "same-site" })],
  ["the address bar", () => ({ "sec-fetch-site": "none" })],
  ["a browser that says it twice", () => ({ "sec-fetch-site": "same-origin, cross-site" })],
  ["a browser that says nothing of it", () => ({ "sec-fetch-site": "" })],
  ["a foreign origin", () => ({ origin: "https://evil.example" })],
  ["a sandboxed page", () => ({ origin: "null" })],
  ["the origin of functions", () => ({ origin: `http://127.0.0.1:${opened.platform.port}` })],
  ["an origin that begins as the console's", () => ({ origin: `${opened.origin}.evil.example` })],
  ["the console's host with https", () => ({ origin: opened.origin.replace("http:", "https:") })],
  ["two origins", () => ({ origin: `${opened.origin}, https://evil.example` })],
  ["an origin that may call the API", () => ({ origin: allowedOrigin })],
];

test.each(senders)("%s is refused everything, and neither signs in nor out", async (_, over) => {
  await browser.signIn();
  const { authorization } = opened.platform;
  for (const [method, path, body] of requests) {
    for (const headers of [over(), { ...over(), authorization }, { ...over(), cookie: "" }]) {
      const reply = await browser.send(method, path, body?.(), headers);
      expect(reply.headers.getSetCookie(), path).toEqual([]);
      expect(reply.headers.has("access-control-allow-origin")).toBe(false);
      expect(await codeOf(reply), `${method} ${path}`).toEqual([403, "cross_origin"]);
    }
  }
  expect((await browser.send("GET", "/system/info")).status).toBe(200);
  expect(opened.platform.functions.size).toBe(0);
});

const changes = requests.flatMap(([method, path, body]) => (method === "GET" ? [] : [{ method, path, body }]));

test.each(changes)("$method $path needs an Origin", async ({ method, path, body }) => {
  await browser.signIn();
  const cookie = `weir-session=${browser.cookies.get("weir-session")}`;
  const sent = { cookie, "x-weir-session": browser.half ?? "", "sec-fetch-site": "same-origin" };
  const reply = await opened.send(method, path, sent, body?.());
  expect(reply.headers.getSetCookie()).toEqual([]);
  expect(await codeOf(reply)).toEqual([403, "cross_origin"]);
  expect((await browser.send("GET", "/system/info")).status).toBe(200);
});

test("an origin of allowed_origins may call the API, and only that", async () => {
  const { authorization, port } = opened.platform;
  const sent = { authorization, origin: allowedOrigin, "sec-fetch-site": "cross-site" };
  const reply = await fetch(`http://127.0.0.1:${port}/system/info`, { headers: sent });
  expect(reply.status).toBe(200);
  expect(await codeOf(await opened.send("GET", "/system/info", sent))).toEqual([403, "cross_origin"]);
});

test("nobody may ask before a request of another origin", async () => {
  for (const [method, path] of requests) {
    const preflight = { "access-control-request-method": method, "access-control-request-headers": "x-weir-session" };
    const sent = { origin: "https://evil.example", "sec-fetch-site": "cross-site", ...preflight };
    const reply = await opened.send("OPTIONS", path, sent);
    expect(reply.status, path).toBeGreaterThanOrEqual(400);
    const names = [...reply.headers.keys()];
    expect(names.filter((name) => name.startsWith("access-control-"))).toEqual([]);
  }
});

describe("an address that is not loopback", () => {
  const main = fileURLToPath(new URL("../../runtime/gateway/main.ts", import.meta.url));
  const startWith = (origins: string): Promise<{ readonly code: unknown; readonly said: string }> =>
    new Promise((resolve) => {
      const args = [main, "--nats-url", "nats://127.0.0.1:9", "--console-port", "9", "--console-origins", origins];
      const env = { PATH: environment()["PATH"] };
      execFile(process.execPath, args, { env }, (err, _stdout, said) => resolve({ code: err?.code ?? 0, said }));
    });

  test("stops the start, with a sentence, unless it is https", async () => {
    const { code, said } = await startWith("http://console.example.com,https://fine.example.com,http://10.0.0.1:8081");
    expect(code).toBe(1);
    for (const origin of ["http://console.example.com", "http://10.0.0.1:8081"])
      expect(said).toContain(`Cannot serve the console on "${origin}": a session needs https`);
    expect(said).not.toContain("fine.example.com");
  });
});
