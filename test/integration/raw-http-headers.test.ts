import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { openFunctionServer, type FunctionServer, type SeenRequest } from "../support/function-server.ts";
import { openRawClient, rawRequest } from "../support/raw-client.ts";
import { openSyncGateway, type SyncGateway } from "../support/sync-gateway.ts";

/** `security.md` H3, H4, H6 and H7, header by header; the rest of that page is in `raw-http`. */
const once: Readonly<Record<string, string>> = {
  Host: "g",
  Authorization: "Basic YTpi",
  "Content-Type": "text/plain",
  "Content-Length": "0",
  "Transfer-Encoding": "chunked",
  "X-Call-Id": "0af76519-16cd-43dd-8448-eb211c80319c",
  "X-Callback-Url": "http://127.0.0.1:9/",
  "X-Call-Depth": "1",
};
const platformOwn = ["X-Call-Attempt", "X-Parent-Call-Id", "Weir-Invoke", "Weir-Timeout", "Weir-Made-Up"];
const forwarded = [
  "X-Forwarded-For",
  "X-Forwarded-Host",
  "X-Forwarded-Proto",
  "X-Forwarded-Port",
  "X-Forwarded-Prefix",
];
const routes = ["/function/echo", "/async-function/echo", "/system/info"] as const;

let gateway: SyncGateway;
let echo: FunctionServer;

beforeAll(async () => {
  echo = await openFunctionServer((request, response, body) => response.end(`${request.url} ${body}`));
  gateway = await openSyncGateway();
  gateway.deploy("echo", { addresses: [echo.address] });
});
afterAll(async () => {
  await gateway?.close();
  await echo?.close();
});

function seenHeaders(): SeenRequest["headers"] {
  return echo.requests.at(-1)?.headers ?? {};
}

/** A POST with an empty body, unless the headers say another length. */
function head(route: string, headers: readonly (readonly [string, string])[]): string {
  const given = new Set(headers.map(([name]) => name));
  const added: [string, string][] = given.has("Host") ? [] : [["Host", "g"]];
  const body = given.has("Transfer-Encoding") ? "0\r\n\r\n" : "";
  return `POST ${route} HTTP/1.1\r\n${[...added, ...headers].map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${body}`;
}

describe.each(routes)("%s", (route) => {
  test.each(Object.entries(once))("%s once is accepted, twice is 400, in any case of letters", async (name, value) => {
    expect((await rawRequest(gateway.port, head(route, [[name, value]]))).status).toBeLessThan(300);
    for (const again of [name, name.toLowerCase(), name.toUpperCase()]) {
      const reply = await rawRequest(
        gateway.port,
        head(route, [
          [name, value],
          [again, value],
        ]),
      );
      expect(reply, again).toMatchObject({ status: 400, closed: true });
    }
  });

  test.each([...Object.keys(once), ...platformOwn, ...forwarded])("Connection that names %s is 400", async (name) => {
    for (const value of [name, `keep-alive, ${name.toLowerCase()}`, `close,${name.toUpperCase()} ,x`]) {
      const reply = await rawRequest(gateway.port, head(route, [["Connection", value]]));
      expect(reply, value).toMatchObject({ status: 400, closed: true });
    }
  });

  test.each(["gateway.weir:8080", "gateway.weir.svc.cluster.local.:8080", "[::1]:8080", "a.b.c", "127.0.0.1"])(
    "Host %s is accepted",
    async (host) => {
      expect((await rawRequest(gateway.port, head(route, [["Host", host]]))).status).toBeLessThan(300);
    },
  );
});

test("platform headers spelt with _ are dropped, and have no effect", async () => {
  const names = [
    ...Object.keys(once),
    ...platformOwn,
    ...forwarded,
    "X-Start-Time",
    "X-Function-Status",
    "X-Retry-Max",
  ];
  const spelt = names.map((name) => [name.replaceAll("-", "_"), "17"] as const).filter(([name]) => name.includes("_"));
  const reply = await rawRequest(
    gateway.port,
    head("/function/echo", [...spelt, ["X_Own", "mine"], ["x_call-id", "1"]]),
  );

  expect(reply.status).toBe(200);
  const headers = seenHeaders();
  expect(Object.keys(headers).filter((name) => name.includes("_"))).toEqual(["x_own"]);
  expect(headers["x-call-id"]).toMatch(/^[0-9a-f-]{36}$/);
  expect(headers["x-forwarded-host"]).toBe("g");
});

test("headers that only the platform may set are removed, those of a callback pass", async () => {
  const reserved = [...platformOwn, ...forwarded].map((name) => [name, "6.6.6.6"] as const);
  const carried = ["X-Function-Status", "X-Function-Name", "X-Retry", "X-Retry-Max", "X-Duration-Seconds"];
  await rawRequest(gateway.port, head("/function/echo", [...reserved, ...carried.map((name) => [name, "3"] as const)]));

  const headers = seenHeaders();
  for (const name of platformOwn) expect(headers).not.toHaveProperty(name.toLowerCase());
  expect(headers).toMatchObject({
    "x-forwarded-for": "127.0.0.1",
    "x-forwarded-host": "g",
    "x-forwarded-proto": "http",
    ...Object.fromEntries(carried.map((name) => [name.toLowerCase(), "3"])),
  });
  expect(headers).not.toHaveProperty("x-forwarded-port");
});

test("hop-by-hop headers and those that Connection names are dropped", async () => {
  const hops = ["Keep-Alive", "Proxy-Authorization", "Proxy-Connection", "Proxy-Made-Up", "TE", "Trailer", "Upgrade"];
  await rawRequest(
    gateway.port,
    head("/function/echo", [
      ...hops.map((name) => [name, "x"] as const),
      ["Connection", "X-Mine, keep-alive"],
      ["Connection", "X-Too"],
      ["X-Mine", "1"],
      ["X-Too", "1"],
      ["X-Stays", "1"],
    ]),
  );

  const headers = seenHeaders();
  for (const name of [...hops, "X-Mine", "X-Too"]) expect(headers).not.toHaveProperty(name.toLowerCase());
  expect(headers["x-stays"]).toBe("1");
});

test("chunks with extensions and trailers keep the connection in step", async () => {
  const client = await openRawClient(gateway.port);
  const hidden = "GET /function/echo/hidden HTTP/1.1\r\nHost: g\r\n\r\n";
  const chunked = `${hidden.length.toString(16)};a=b\r\n${hidden}\r\n0\r\nX-Trailer: 1\r\n\r\n`;
  for (const start of ["GET /system/info", "POST /function/echo", "GET /function/echo", "POST /async-function/echo"])
    client.send(`${start} HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked\r\n\r\n${chunked}`);
  client.send("GET /function/echo/seen HTTP/1.1\r\nHost: g\r\n\r\n");
  const replies = await client.replies(5);
  client.close();

  expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 202, 200]);
  expect(replies[4]?.body).toBe("/seen ");
  expect(echo.requests.map(({ target }) => target)).not.toContain("/hidden");
});
