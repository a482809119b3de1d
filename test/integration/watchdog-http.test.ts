import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import { readFromFunctionSlowly, sendToSlowFunction } from "../support/slow-readers.ts";
import { freePort } from "../support/free-port.ts";
import { openRawClient } from "../support/raw-client.ts";
import { openSyncGateway } from "../support/sync-gateway.ts";
import {
  endWatchdogsAfterEachTest,
  call,
  js,
  launch,
  main,
  open,
  openSharedHttp,
  programPath,
  running,
  sh,
  start,
  startHttp,
  startReady,
} from "../support/watchdog-process.ts";

endWatchdogsAfterEachTest();

describe("mode http, one process", () => {
  /** By the first part of the path. */
  const handlers: Readonly<Record<string, string>> = {
    reflect: `
      const chunks = [];
      request.on("data", (chunk) => chunks.push(chunk)).on("end", () => {
        response.writeHead(418, { "x-list": ["a", "b"], "content-type": "text/plain" });
        response.end([request.method, request.url, request.headers["x-call-id"], request.headers.te, Buffer.concat(chunks)].join(" "));
      })`,
    echo: `request.pipe(response)`,
    headers: `response.write(JSON.stringify(request.headers)); request.pipe(response)`,
    reset: `request.socket.resetAndDestroy()`,
    nonsense: `request.socket.end("nonsense\\r\\n\\r\\n")`,
    posts: `
      globalThis.posts ??= 0;
      if (request.method === "GET") return response.end(String(globalThis.posts));
      globalThis.posts += 1;
      request.socket.resetAndDestroy()`,
    switch: `request.socket.write("HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: x\\r\\nConnection: Upgrade\\r\\n\\r\\n")`,
    early: `response.writeHead(401, { "content-length": 3 }); response.end("no\\n")`,
    hints: `
      response.writeEarlyHints({ link: "</a>; rel=preload" });
      response.write("body");
      response.addTrailers({ "X-Sum": "1" });
      response.end()`,
    latin: `
      const socket = request.socket;
      const head = "HTTP/1.1 200 OK\\r\\nX-L: caf\\u00e9\\r\\nContent-Length: 5\\r\\n\\r\\n";
      socket.write(Buffer.from(head, "latin1"));
      setTimeout(() => socket.write("later"), 50)`,
  };
  const code = Object.entries(handlers).map(([name, handler]) => `if (path === "${name}") { ${handler} }`);
  let shared: Awaited<ReturnType<typeof openSharedHttp>>;
  let port: number;
  beforeAll(async () => {
    shared = await openSharedHttp(`const path = request.url.split("/")[1]; ${code.join("\n")}`);
    ({ port } = shared);
  });
  afterAll(() => shared?.[Symbol.asyncDispose]());

  test("finds a port, passes it as PORT, and proxies method, path, headers and body", async () => {
    const reply = await call(port, "/reflect/a%2Fb?q", {
      method: "PUT",
      body: "body",
      headers: { "X-Call-Id": "7", TE: "trailers", Connection: "keep-alive, TE" },
    });

    expect(reply).toMatchObject({ status: 418, body: "PUT /reflect/a%2Fb?q 7 trailers body" });
    expect(reply.headers["x-list"]).toBe("a, b");
  });

  test("streams both ways", async () => {
    const { request, response } = open(port, "/echo", { method: "POST" });
    request.write("first");
    const reply = await response;

    expect((await once(reply, "data")).toString()).toBe("first");
    request.end("second");
    expect(await text(reply)).toBe("second");
  });

  test("the head comes before the first byte of the body, and an early reply is passed on", async () => {
    const client = await openRawClient(port);
    client.send("POST /early HTTP/1.1\r\nHost: w\r\nContent-Length: 1000000\r\n\r\n");
    expect((await client.replies(1))[0]).toMatchObject({ status: 401, body: "no\n" });
    client.close();
  });

  test("a 100 is the process's to give, and interim replies and trailers pass", async () => {
    const client = await openRawClient(port);
    const head = "Host: w\r\nExpect: 100-continue\r\nContent-Length: 2\r\n";
    client.send(`POST /reflect HTTP/1.1\r\n${head}\r\n`);
    await eventually(() => client.text === "HTTP/1.1 100 Continue\r\n\r\n", { what: "the 100" });
    client.send("hi");
    expect((await client.replies(1))[0]).toMatchObject({ status: 418, body: "POST /reflect   hi" });
    client.send("GET /hints HTTP/1.1\r\nHost: w\r\nTE: trailers\r\n\r\nGET /hints HTTP/1.0\r\n\r\n");
    const [, modern, old] = await client.replies(3);
    expect([modern, old]).toMatchObject([{ body: "body" }, { body: "body" }]);
    expect(client.text.split("HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n")).toHaveLength(2);
    expect(client.text.split("0\r\nX-Sum: 1\r\n\r\n")).toHaveLength(2);
    client.close();
  });

  test("passes a body of a GET and an empty POST", async () => {
    expect((await call(port, "/headers", { method: "POST" })).body).toContain('"content-length":"0"');
    const odd = await call(port, "/headers", { headers: { "transfer-encoding": "chunked" }, body: "odd" });
    expect(odd.body).toMatch(/odd$/);
  });

  test("returns 502 when the process breaks the connection or sends nonsense", async () => {
    expect((await call(port, "/reset")).status).toBe(502);
    expect((await call(port, "/nonsense")).status).toBe(502);
  });

  test("runs a request that is not idempotent once, also on a kept connection that breaks", async () => {
    expect((await call(port, "/posts")).body).toBe("0");
    expect((await call(port, "/posts", { method: "POST" })).status).toBe(502);
    expect((await call(port, "/posts")).body).toBe("1");
  });

  test("returns 502 when the process switches protocols unasked", async () => {
    expect((await call(port, "/switch")).status).toBe(502);
  });

  test("passes the bytes of a header unchanged, also when the head is sent before the body", async () => {
    const { request, response } = open(port, "/latin");
    request.end();
    const reply = await response;

    expect(reply.headers["x-l"]).toBe("caf\u00e9");
    expect(await text(reply)).toBe("later");
  });
});

describe("mode http", () => {
  test("the port of a container, where the watchdog listens, is not the process's own", async () => {
    const own = await freePort();
    const { port } = await startHttp("response.end(process.env.PORT)", { PORT: String(own) }, ["--port", String(own)]);
    expect(port).toBe(own);
    const passed = Number((await call(port, "/")).body);

    expect(passed).toBeGreaterThan(0);
    expect(passed).not.toBe(own);
  });

  test("says after 5 s that its process does not listen, and where it does or should", async () => {
    const elsewhere = (host: string, port: string) =>
      js(`require("node:net").createServer().listen(${port}, "${host}")`);
    const rows: [fprocess: string, sentence: RegExp][] = [
      ["sleep 600", /^the process runs, but nothing listens on port \d+ \(\$PORT\)$/],
      [
        elsewhere("::1", "process.env.PORT"),
        /^the process runs and listens on \[::1\]:(\d+), but not on 127\.0\.0\.1:\1 \(\$PORT\)$/,
      ],
      [
        elsewhere("127.0.0.1", "0"),
        /^the process runs and listens on 127\.0\.0\.1:\d+, but not on port \d+ \(\$PORT\)$/,
      ],
    ];
    const said = await Promise.all(
      rows.map(async ([fprocess]) => {
        const { child, output } = launch({ mode: "http", fprocess });
        const messages: object[] = [];
        child.on("message", (message) => messages.push(Object(message)));
        const message = await eventually(() => messages.find((each) => "waiting" in each), { what: "a message" });
        await eventually(() => output().includes("watchdog: the process runs"), { what: "the log" });
        return message;
      }),
    );
    expect(said).toEqual(
      rows.map(([, sentence]) => ({
        waiting: { reason: "NotListening", message: expect.stringMatching(sentence) as string },
      })),
    );
  });

  test("in a container it listens once its process does", async () => {
    const port = await freePort();
    const late = js(`setTimeout(() => require("node:http").createServer((request, response) => response.end("up"))
      .listen(process.env.PORT, "127.0.0.1"), 500)`);
    const env = { PATH: programPath, mode: "http", fprocess: late, host: "127.0.0.1", port: String(port) };
    const child = spawn(process.execPath, [main], { env: { ...env, PORT: String(port) }, stdio: "ignore" });
    running.push(child);
    // The first connection that is accepted gets the reply of the process.
    const reply = await eventually(() => call(port, "/"), { what: "a reply", every: 5 });

    expect(reply).toMatchObject({ status: 200, body: "up" });
  });

  test("keeps bodies and replies whole for a process and for clients that read slowly (H11)", async () => {
    const gateway = await openSyncGateway({
      upstreamTimeout: 60_000,
      server: { bodyIdleTimeout: 60_000 },
      invoker: { webSocketIdle: 60_000 },
    });
    onTestFinished(() => gateway.close());
    /** A process that relays each connection to the test's own function. */
    const front = async (address: string): Promise<string> => {
      const to = address.slice(address.lastIndexOf(":") + 1);
      const relay = `
        const { connect, createServer } = require("node:net");
        const server = createServer((socket) => {
          const peer = connect(${to}, "127.0.0.1");
          socket.pipe(peer).pipe(socket);
          socket.on("error", () => peer.destroy());
          peer.on("error", () => socket.destroy());
        });
        server.listen(process.env.PORT, "127.0.0.1")`;
      const { port } = await startReady({ fprocess: js(relay), mode: "http" }, ["--write-timeout", "60s"]);
      return `127.0.0.1:${port}`;
    };
    // The kernel buffers about 3 MB of a connection; the rest waits in the watchdog.
    const transfer = { size: 6_000_000, rate: 2_000_000, transfers: 2, others: 3, front } as const;
    const outcomes = await Promise.all([
      sendToSlowFunction(gateway, { ...transfer, by: "length" }),
      sendToSlowFunction(gateway, { ...transfer, by: "chunks" }),
      sendToSlowFunction(gateway, { ...transfer, by: "websocket" }),
      readFromFunctionSlowly(gateway, transfer),
    ]);

    expect(outcomes.flatMap(({ faults }) => faults)).toEqual([]);
  });

  test("serves many requests on kept connections whose server closes them", async () => {
    const { port } = await startHttp(`response.end(String(request.socket.server.keepAliveTimeout = 1))`);

    for (let number = 0; number < 200; number += 1) expect((await call(port, "/")).status).toBe(200);
  });

  test("with http_buffer_req_body, a process gets a length with each body, of 32 MiB at most", async () => {
    const { port } = await startHttp(
      `const { expect, ...headers } = request.headers;
      request.on("data", () => {}).on("end", () => response.end(JSON.stringify([headers["content-length"], headers["transfer-encoding"], expect])))`,
      { http_buffer_req_body: "1" },
    );
    const chunked = { "transfer-encoding": "chunked" };
    const posted = async (headers: Record<string, string>, body: string | Buffer) =>
      (await call(port, "/", { method: "POST", headers, body })).body;
    expect(await posted(chunked, "hello")).toBe('["5",null,null]');
    expect(await posted({ ...chunked, expect: "100-continue" }, "hello")).toBe('["5",null,null]');
    expect(await posted({}, "hello")).toBe('["5",null,null]');
    const { status, body } = await call(port, "/", {
      method: "POST",
      headers: chunked,
      body: Buffer.alloc(33_554_433),
    });
    expect([status, body]).toEqual([
      413,
      expect.stringContaining("32 MiB, which is the limit of http_buffer_req_body"),
    ]);
  });

  test("a process that serves one connection at a time is not kept waiting after a 204", async () => {
    const one = js(`
      let busy = Promise.resolve();
      require("node:net").createServer((socket) => {
        const served = busy;
        busy = new Promise((free) => socket.on("close", free).on("end", () => socket.end()).on("error", () => {}));
        served.then(() => socket.on("data", () => socket.write("HTTP/1.1 204 None\\r\\n\\r\\n")));
      }).listen(process.env.PORT, "127.0.0.1")`);
    const { port } = await start({ mode: "http", fprocess: one });
    await eventually(async () => (await call(port, "/_/ready")).status === 200, { what: "readiness" });
    const began = performance.now();
    for (let number = 0; number < 20; number += 1) expect((await call(port, "/")).status).toBe(204);
    // An idle connection is kept for a second.
    expect(performance.now() - began).toBeLessThan(15_000);
  });

  test("exec_timeout is 504 and frees the connection to the process", async () => {
    const { port } = await startHttp(`request.url === "/slow" ? request.once("close", () => {}) : response.end("ok")`, {
      // Longer than a full machine takes for the second call.
      exec_timeout: "2s",
    });

    expect((await call(port, "/slow")).status).toBe(504);
    expect((await call(port, "/")).body).toBe("ok");
  });

  test("relays connections of another protocol", async () => {
    const { port } = await start({
      mode: "http",
      fprocess:
        js(`require("node:http").createServer((request, response) => response.end()).on("upgrade", (request, socket) => {
        socket.write("HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: echo\\r\\nConnection: Upgrade\\r\\n\\r\\n");
        socket.pipe(socket);
      }).listen(process.env.PORT, "127.0.0.1")`),
    });
    await eventually(async () => (await call(port, "/_/ready")).status === 200, { what: "readiness" });
    const socket = connect(port, "127.0.0.1");
    let received = "";
    socket.on("data", (chunk: Buffer) => (received += chunk.toString()));
    socket.write("GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n");
    await eventually(() => received.includes("101"), { what: "the switch" });
    socket.write("ping");
    await eventually(() => received.endsWith("ping"), { what: "the echo" });
    socket.destroy();
  });

  test("a client that leaves ends such a connection, before and after the switch, even if the process continues", async () => {
    const { port, output } = await start({
      mode: "http",
      fprocess: js(`const server = require("node:http").createServer((request, response) => response.end());
      server.on("upgrade", (request, socket) => {
        console.log("opened " + request.url);
        socket.on("error", () => {}).on("close", () => console.log("closed " + request.url)).resume();
        if (request.url === "/silent") socket.on("end", () => socket.end());
        else socket.write("HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: echo\\r\\nConnection: Upgrade\\r\\n\\r\\n");
        if (request.url === "/deaf") setInterval(() => socket.write("x"), 100);
      });
      server.listen(process.env.PORT, "127.0.0.1")`),
    });
    await eventually(async () => (await call(port, "/_/ready")).status === 200, { what: "readiness" });
    const leave = async (path: string): Promise<void> => {
      const socket = connect(port, "127.0.0.1");
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n`);
      await eventually(() => output().includes(`opened ${path}`), { what: "the handshake" });
      socket.end();
      await eventually(() => output().includes(`closed ${path}`), { what: `the end of ${path}` });
      socket.destroy();
    };
    await Promise.all(["/silent", "/deaf"].map(leave));
  });

  test("ends with the process, its code and a last line", async () => {
    const watchdog = await start({ mode: "http", fprocess: sh("printf broken >&2; exit 7") });

    expect(await watchdog.exited).toBe(7);
    expect(watchdog.output()).toContain("broken\n");
    expect(watchdog.output()).toContain("broken\nwatchdog: The process ended with code 7\n");
  });

  test("refuses a port that is in use, with the reason PortInUse", async () => {
    const first = await startHttp("response.end()");
    const { report, exited } = launch({
      mode: "http",
      fprocess: "sleep 60",
      upstream_url: `http://127.0.0.1:${first.port}`,
    });

    expect(await report).toEqual({
      failure: { reason: "PortInUse", message: expect.stringContaining(`port ${first.port} is in use`) },
    });
    expect(await exited).toBe(1);
  });

  test("of two that start at once with one port, the second is refused before any process listens", async () => {
    const port = await freePort();
    const settings = { mode: "http", fprocess: "sleep 60", upstream_url: `http://127.0.0.1:${port}` };
    const reports = await Promise.all([launch(settings), launch(settings)].map(({ report }) => report));

    expect(reports).toHaveLength(2);
    expect(reports).toContainEqual({ serving: true, port: expect.any(Number) as number });
    expect(reports).toContainEqual({
      failure: { reason: "PortInUse", message: expect.stringContaining(`port ${port} is in use`) as string },
    });
  });
});
