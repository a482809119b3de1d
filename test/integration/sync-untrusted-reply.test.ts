import { describe, expect, test } from "vitest";

import { openRawClient, rawRequest } from "../support/raw-client.ts";
import { syncFixture } from "../support/sync-fixture.ts";

const { open, serveRaw } = syncFixture();

describe("a function's bad reply is 502 and its connection is not used again", () => {
  const ok = "Content-Length: 2\r\n\r\nok";
  test.each([
    ["two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc"],
    ["two equal lengths", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok"],
    ["length and chunked", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
    ["status 999", `HTTP/1.1 999 Odd\r\n${ok}`],
    ["status 600", `HTTP/1.1 600 Odd\r\n${ok}`],
    ["status 99", `HTTP/1.1 99 Odd\r\n${ok}`],
    ["a NUL in a header", `HTTP/1.1 200 OK\r\nX-A: a\0b\r\n${ok}`],
    ["a lone CR in a header", `HTTP/1.1 200 OK\r\nX-A: a\rb\r\n${ok}`],
    ["a bad header name", `HTTP/1.1 200 OK\r\nX A: a\r\n${ok}`],
    ["a head over 64 KiB", `HTTP/1.1 200 OK\r\nX-A: ${"a".repeat(66_000)}\r\n${ok}`],
    ["more than 10 interim responses", `${"HTTP/1.1 103 Early\r\n\r\n".repeat(11)}HTTP/1.1 200 OK\r\n${ok}`],
    ["an upgrade nobody asked for", "HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: foo\r\n\r\n"],
    ["no HTTP", "hello\r\n\r\n"],
    ["a folded header", `HTTP/1.1 200 OK\r\nX-A: a\r\n b\r\n${ok}`],
    ["bare LF", "HTTP/1.1 200 OK\nX-A: a\nContent-Length: 2\n\nok"],
    ["LF in a header", `HTTP/1.1 200 OK\r\nX-A: a\nX-B: b\r\n${ok}`],
    ["a control byte in a header", `HTTP/1.1 200 OK\r\nX-A: a\x01b\r\n${ok}`],
    ["a space before the colon", "HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nok"],
    ["a length with a sign", "HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok"],
    ["a negative length", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nok"],
    ["a list of lengths", "HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok"],
    ["a length beyond safe integers", "HTTP/1.1 200 OK\r\nContent-Length: 90071992547409930\r\n\r\nok"],
    ["chunked and length", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n"],
    ["another coding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nok"],
    ["a coding before chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"],
    ["identity", "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\nok"],
    ["xchunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"],
    ["chunked twice", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
    ["101 without an upgrade", `HTTP/1.1 101 Switching\r\n\r\nHTTP/1.1 200 OK\r\n${ok}`],
    [
      "an invalid chunk size, together with its head",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0x2\r\nok\r\n0\r\n\r\n",
    ],
    [
      "a chunk without its end, together with its head",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nokay\r\n0\r\n\r\n",
    ],
    ["a coding with a tab after it", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\t\r\n\r\n0\r\n\r\n"],
    ["a length with a tab after it", "HTTP/1.1 200 OK\r\nContent-Length: 2\t\r\n\r\nok"],
    ["status 000", `HTTP/1.1 000 None\r\n${ok}`],
    ["a status of four digits", `HTTP/1.1 2000 OK\r\n${ok}`],
    ["HTTP/1.9", `HTTP/1.9 200 OK\r\n${ok}`],
  ])("%s", async (_name, bytes) => {
    const fn = await serveRaw(bytes);
    const gateway = await open();
    gateway.deploy("bad", { addresses: [fn.address] });
    for (const round of [1, 2]) {
      const reply = await rawRequest(gateway.port, "GET /function/bad HTTP/1.1\r\nHost: g\r\n\r\n");
      expect(reply).toMatchObject({
        status: 502,
        body: expect.stringContaining('Cannot call function "bad.functions": its reply'),
      });
      expect(fn.connections).toBe(round);
      await expect.poll(() => fn.open).toBe(0);
    }
  });

  test("10 interim responses are skipped", async () => {
    const fn = await serveRaw(`${"HTTP/1.1 103 Early\r\n\r\n".repeat(10)}HTTP/1.1 200 OK\r\n${ok}`);
    const gateway = await open();
    gateway.deploy("good", { addresses: [fn.address] });
    expect(await rawRequest(gateway.port, "GET /function/good HTTP/1.1\r\nHost: g\r\n\r\n")).toMatchObject({
      status: 200,
      body: "ok",
    });
  });

  test("a connection that breaks before the reply", async () => {
    const fn = await serveRaw((socket) => socket.destroy());
    const gateway = await open();
    gateway.deploy("bad", { addresses: [fn.address] });
    const reply = await rawRequest(gateway.port, "GET /function/bad HTTP/1.1\r\nHost: g\r\n\r\n");
    expect(reply).toMatchObject({
      status: 502,
      body: 'Cannot call function "bad.functions": the connection broke before the reply\n',
    });
  });

  test.each([
    ["a short body", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"],
    ["chunks without their end", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n"],
  ])("%s aborts the client's connection", async (_name, bytes) => {
    const fn = await serveRaw((socket) => socket.end(bytes));
    const gateway = await open();
    gateway.deploy("bad", { addresses: [fn.address] });
    const client = await openRawClient(gateway.port);
    client.send("GET /function/bad HTTP/1.1\r\nHost: g\r\n\r\n");
    await client.end();
    expect(client.text).not.toContain("\r\n0\r\n\r\n");
    await expect(client.replies(1)).rejects.toThrow("0 of 1 replies");
  });

  test("a second response that nobody asked for is not the response to the next call", async () => {
    const fn = await serveRaw(`HTTP/1.1 200 OK\r\n${ok}HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil`);
    const gateway = await open();
    gateway.deploy("bad", { addresses: [fn.address] });
    for (const round of [1, 2, 3]) {
      const reply = await rawRequest(gateway.port, "GET /function/bad HTTP/1.1\r\nHost: g\r\n\r\n");
      expect(reply).toMatchObject({ status: 200, body: "ok" });
      expect(fn.connections).toBe(round);
    }
  });

  test("an invalid chunk size after a head that was sent aborts the client's connection", async () => {
    let go: (() => void) | undefined;
    const fn = await serveRaw((socket) => {
      socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
      go = () => void socket.write("0x2\r\nok\r\n0\r\n\r\n");
    });
    const gateway = await open();
    gateway.deploy("bad", { addresses: [fn.address] });
    const client = await openRawClient(gateway.port);
    client.send("GET /function/bad HTTP/1.1\r\nHost: g\r\n\r\n");
    await expect.poll(() => client.text).toContain("\r\n\r\n");
    go?.();
    await client.end();
    expect(client.text).not.toContain("ok\r\n");
    expect(client.text).not.toContain("\r\n0\r\n\r\n");
  });

  test("100 that nobody asked for is skipped, also in a separate write", async () => {
    const fn = await serveRaw((socket) => {
      socket.write("HTTP/1.1 100 Continue\r\n\r\n");
      setImmediate(() => socket.write(`HTTP/1.1 200 OK\r\n${ok}`));
    });
    const gateway = await open();
    gateway.deploy("good", { addresses: [fn.address] });
    for (let round = 0; round < 2; round += 1) {
      const reply = await rawRequest(
        gateway.port,
        "POST /function/good HTTP/1.1\r\nHost: g\r\nContent-Length: 0\r\n\r\n",
      );
      expect(reply).toMatchObject({ status: 200, body: "ok" });
    }
  });

  test.each([
    ["204", "HTTP/1.1 204 None\r\nContent-Length: 4\r\n\r\nevil"],
    ["304", "HTTP/1.1 304 Same\r\nContent-Length: 4\r\n\r\nevil"],
  ])("a body after a %s is dropped: the next call gets its own response", async (status, bytes) => {
    let connections = 0;
    const fn = await serveRaw((socket) => {
      connections += 1;
      socket.write(connections === 1 ? bytes : `HTTP/1.1 200 OK\r\n${ok}`);
    });
    const gateway = await open();
    gateway.deploy("bad", { addresses: [fn.address] });
    const client = await openRawClient(gateway.port);
    client.send("GET /function/bad HTTP/1.1\r\nHost: g\r\n\r\n");
    const [first] = await client.replies(1);
    expect(first?.status).toBe(Number(status));
    expect(first?.headers["content-length"]).toBe(status === "204" ? undefined : "4");
    client.send("GET /function/bad HTTP/1.1\r\nHost: g\r\n\r\n");
    expect((await client.replies(2))[1]).toMatchObject({ status: 200, body: "ok" });
    expect(fn.connections).toBe(2);
  });

  test("a head of almost 64 KiB, HTTP/1.0 and a body without length pass", async () => {
    const fn = await serveRaw((socket) => socket.end(`HTTP/1.0 200 OK\r\nX-A: ${"a".repeat(60_000)}\r\n\r\nrest`));
    const gateway = await open();
    gateway.deploy("good", { addresses: [fn.address] });
    const reply = await rawRequest(gateway.port, "GET /function/good HTTP/1.1\r\nHost: g\r\n\r\n");
    expect(reply).toMatchObject({ status: 200, body: "rest" });
    expect(reply.headers["x-a"]).toHaveLength(60_000);
  });
});

test("a defect of the gateway is 500, and not called a bad reply", async () => {
  const unreadable = new Proxy<string[]>([], {
    get: () => {
      throw new TypeError("a defect");
    },
  });
  let aborted = 0;
  const gateway = await open({
    invoker: {
      upstream: {
        dispatch: (_address, _request, listener) => {
          queueMicrotask(() => listener.onHead(200, unreadable));
          return { resume: () => {}, abort: () => (aborted += 1) };
        },
        release: () => {},
        close: async () => {},
      },
    },
  });
  gateway.deploy("good", { addresses: ["127.0.0.1:9"] });
  const reply = await rawRequest(gateway.port, "GET /function/good HTTP/1.1\r\nHost: g\r\n\r\n");
  expect(reply).toMatchObject({ status: 500, body: "Cannot answer this request: an internal error occurred\n" });
  expect(aborted).toBe(1);
});
