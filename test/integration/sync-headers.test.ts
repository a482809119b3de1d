import { connect } from "node:net";
import { describe, expect, test } from "vitest";

import { clientAddresses } from "../../runtime/gateway/edge/client-address.ts";
import { openRawClient, rawRequest } from "../support/raw-client.ts";
import { syncFixture } from "../support/sync-fixture.ts";

const generated = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-01$/;
const trace = "0af7651916cd43dd8448eb211c80319c";
const span = "b7ad6b7169203331";

describe("headers of a synchronous call", () => {
  const { open, serve, serveRaw, closing } = syncFixture();
  const get = (more: readonly string[]): string =>
    ["GET /function/hello HTTP/1.1", "Host: g", ...more, "", ""].join("\r\n");

  test.each([
    ["one of version 00", [`traceparent: 00-${trace}-${span}-00`], `00-${trace}-${span}-00`, undefined],
    ["its spelling", [`TraceParent: 00-${trace}-${span}-01`], `00-${trace}-${span}-01`, undefined],
    [
      "its state, in any order",
      ["tracestate: a=1,b=2", `traceparent: 00-${trace}-${span}-01`, "tracestate: c=3"],
      `00-${trace}-${span}-01`,
      "a=1,b=2, c=3",
    ],
    ["a later version", [`traceparent: cc-${trace}-${span}-01-more`], `cc-${trace}-${span}-01-more`, undefined],
  ])("traceparent: %s passes", async (_name, headers, parent, state) => {
    const fn = await serve();
    const gateway = await open();
    gateway.deploy("hello", { addresses: [fn.address] });
    await rawRequest(gateway.port, get(headers));
    expect(fn.requests[0]?.headers["traceparent"]).toBe(parent);
    expect(fn.requests[0]?.headers["tracestate"]).toBe(state);
    expect(gateway.lines[0]?.traceId).toBe(trace);
  });

  test.each([
    ["none beside a state", []],
    ["upper case", [`traceparent: 00-${trace.toUpperCase()}-${span}-01`]],
    ["no trace id", [`traceparent: 00-${"0".repeat(32)}-${span}-01`]],
    ["no parent id", [`traceparent: 00-${trace}-${"0".repeat(16)}-01`]],
    ["version ff", [`traceparent: ff-${trace}-${span}-01`]],
    ["more after version 00", [`traceparent: 00-${trace}-${span}-01-more`]],
    ["more without a dash", [`traceparent: cc-${trace}-${span}-01more`]],
    ["a short one", [`traceparent: 00-${trace}-${span}`]],
    ["text", ["traceparent: hello"]],
    ["an empty one", ["traceparent: "]],
    ["two", [`traceparent: 00-${trace}-${span}-01`, `traceparent: 00-${trace}-${span}-01`]],
    ["three", Array.from({ length: 3 }, () => `traceparent: 00-${trace}-${span}-01`)],
    ["one that Connection names", [`traceparent: 00-${trace}-${span}-01`, "Connection: traceparent"]],
  ])("traceparent: %s is replaced, and its state dropped", async (_name, headers) => {
    const fn = await serve();
    const gateway = await open();
    gateway.deploy("hello", { addresses: [fn.address] });
    await rawRequest(gateway.port, get([...headers, "tracestate: a=1"]));
    const [seen] = fn.requests;
    expect(seen?.headers["traceparent"]).toMatch(generated);
    expect(seen?.headers["traceparent"]).not.toContain(trace);
    expect(seen?.headers["tracestate"]).toBeUndefined();
    expect(gateway.lines[0]?.traceId).toBe(seen?.headers["traceparent"]?.slice(3, 35));
  });

  test("X-Forwarded-* count from trusted proxies only", async () => {
    const fn = await serve();
    const clients = clientAddresses(["127.0.0.2"]);
    const gateway = await open({
      server: { isTrustedProxy: (address) => clients.isTrusted(address) },
      invoker: { clientOf: (peer, forwarded) => clients.of(peer, forwarded) },
    });
    gateway.deploy("hello", { addresses: [fn.address] });
    const headers = [
      "X-Forwarded-For: 8.8.8.8, 9.9.9.9",
      "X-Forwarded-Host: public.example",
      "X-Forwarded-Proto: https",
      "X-Forwarded-Port: 443",
      "X_Forwarded_For: 7.7.7.7",
    ];
    for (const localAddress of ["127.0.0.1", "127.0.0.2"]) {
      const socket = closing({
        socket: connect({ port: gateway.port, host: "127.0.0.1", localAddress }),
        close: () => {},
      });
      socket.socket.end(get([...headers, "Connection: close"]));
      socket.socket.resume();
      await expect.poll(() => socket.socket.closed).toBe(true);
    }
    const forwarded = fn.requests.map(({ headers: seen }) =>
      Object.fromEntries(Object.entries(seen).filter(([name]) => /^x.forwarded/.test(name))),
    );
    expect(forwarded).toEqual([
      { "x-forwarded-for": "127.0.0.1", "x-forwarded-host": "g", "x-forwarded-proto": "http" },
      {
        "x-forwarded-for": "8.8.8.8, 9.9.9.9, 127.0.0.2",
        "x-forwarded-host": "public.example",
        "x-forwarded-proto": "https",
        "x-forwarded-port": "443",
      },
    ]);
    expect(gateway.lines.map(({ client }) => client)).toEqual(["127.0.0.1", "9.9.9.9"]);
  });

  test("hop-by-hop headers and those that Connection names are dropped, both ways", async () => {
    const fn = await serveRaw(
      "HTTP/1.1 200 OK\r\nConnection: keep-alive, X-Gone\r\nX-Gone: 1\r\nKeep-Alive: timeout=99\r\nProxy-Authenticate: x\r\nTE: x\r\nTrailer: x\r\nUpgrade: x\r\nX-Stays: 1\r\nContent-Length: 2\r\n\r\nok",
    );
    const echo = await serve();
    const gateway = await open();
    gateway.deploy("raw", { addresses: [fn.address] });
    gateway.deploy("hello", { addresses: [echo.address] });
    const reply = await rawRequest(gateway.port, get([]).replace("hello", "raw"));
    for (const name of ["x-gone", "proxy-authenticate", "te", "trailer", "upgrade"])
      expect(reply.headers[name]).toBeUndefined();
    expect(reply.headers).toMatchObject({ "x-stays": "1", "keep-alive": "timeout=65" });

    await rawRequest(
      gateway.port,
      get(["Connection: close, X-Gone", "X-Gone: 1", "TE: gzip", "Trailer: x", "Proxy-Authorization: x", "X-Stays: 1"]),
    );
    const seen = echo.requests[0]?.headers ?? {};
    for (const name of ["x-gone", "proxy-authorization", "te", "trailer"]) expect(seen[name]).toBeUndefined();
    expect(seen).toMatchObject({ "x-stays": "1", connection: "keep-alive" });
  });

  test.each([
    "Authorization",
    "X-Call-Id",
    "X-Callback-Url",
    "Host",
    "X-Call-Attempt",
    "Weir-Invoke",
    "X-Forwarded-For",
    "X-Function-Status",
    "X-Start-Time",
    "Transfer-Encoding",
  ])("a Connection that names %s is 400", async (name) => {
    const gateway = await open();
    const reply = await rawRequest(gateway.port, get([`Connection: keep-alive, ${name}`]));
    expect(reply).toMatchObject({ status: 400, closed: true });
  });

  test("trailers are dropped, both ways", async () => {
    const fn = await serve((request, response, body) => {
      expect(request.trailers).toEqual({});
      response.writeHead(200, { trailer: "X-Sum" });
      response.addTrailers({ "X-Sum": "1" });
      response.end(body);
    });
    const gateway = await open();
    gateway.deploy("hello", { addresses: [fn.address] });
    const client = closing(await openRawClient(gateway.port));
    const body = "2\r\nhi\r\n0\r\nX-Call-Id: forged\r\nX-Sum: 2\r\n\r\n";
    client.send(
      `POST /function/hello HTTP/1.1\r\nHost: g\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n${body}`.repeat(
        2,
      ),
    );
    expect((await client.replies(2)).map((reply) => [reply.status, reply.body])).toEqual([
      [200, "hi"],
      [200, "hi"],
    ]);
    expect(client.text.toLowerCase()).not.toContain("x-sum");
    expect(client.text.match(/0\r\n\r\n/g)).toHaveLength(2);
  });

  test("trailers of a reply pass if the client asks for them, without the platform's and those of a hop", async () => {
    const fn = await serve((_request, response, body) => {
      response.write(body);
      response.addTrailers([
        ["X-Sum", "1"],
        ["x-sum", "caf\xe9"],
        ["X-Call-Id", "forged"],
        ["Weir-Invoke", "forged"],
        ["Connection", "close"],
      ]);
      response.end();
    });
    const gateway = await open();
    gateway.deploy("hello", { addresses: [fn.address] });
    const client = closing(await openRawClient(gateway.port));
    const head =
      "POST /function/hello HTTP/1.1\r\nHost: g\r\nTE: trailers\r\nConnection: TE\r\nContent-Length: 2\r\n\r\n";
    const last = "\r\n0\r\nX-Sum: 1\r\nx-sum: caf\xe9\r\n\r\n";
    client.send(`${head}hi${head}hi`);
    await expect.poll(() => client.text.split(last)).toHaveLength(3);
    const old = closing(await openRawClient(gateway.port));
    old.send("POST /function/hello HTTP/1.0\r\nHost: g\r\nTE: trailers\r\nContent-Length: 2\r\n\r\nhi");
    await old.end();
    expect(old.text).not.toContain("X-Sum");
    expect(fn.requests.map(({ headers }) => headers["te"])).toEqual(["trailers", "trailers", undefined]);
  });

  test("HEAD passes only the head, with the length that the function gives", async () => {
    const fn = await serveRaw("HTTP/1.1 200 OK\r\nContent-Length: 4096\r\nX-Own: 1\r\n\r\n");
    const chunked = await serveRaw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    const gateway = await open();
    gateway.deploy("hello", { addresses: [fn.address] });
    gateway.deploy("chunked", { addresses: [chunked.address] });
    const client = closing(await openRawClient(gateway.port));
    client.send(get([]).replace("GET", "HEAD"));
    client.send(get([]).replace("GET", "HEAD").replace("hello", "chunked"));
    client.send(get([]).replace("GET", "HEAD").replace("hello", "nobody"));
    await expect.poll(() => client.text.match(/\r\n\r\n/g)?.length).toBe(3);
    expect(client.text.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 200", "HTTP/1.1 404"]);
    expect(client.text).toContain("Content-Length: 4096\r\nX-Own: 1\r\n");
    expect(client.text.endsWith("\r\n\r\n")).toBe(true);
    expect(gateway.lines.map(({ status, bytesOut }) => `${status} ${bytesOut}`).toSorted()).toEqual([
      "200 0",
      "200 0",
      "404 0",
    ]);
  });
});
