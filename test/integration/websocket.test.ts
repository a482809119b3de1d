import { createHash } from "node:crypto";
import { once } from "node:events";
import type { Duplex } from "node:stream";
import { describe, expect, test } from "vitest";

import { PlatformError } from "../../runtime/api/platform-error.ts";
import { openRawClient, rawRequest } from "../support/raw-client.ts";
import { freeAddress, syncFixture } from "../support/sync-fixture.ts";
import type { SyncGateway } from "../support/sync-gateway.ts";
import { openWebSocketFunction, textFrame } from "../support/websocket-function.ts";

const key = "dGhlIHNhbXBsZSBub25jZQ==";
const handshake = (target: string, more = ""): string =>
  `GET ${target} HTTP/1.1\r\nHost: g\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n${more}\r\n`;
const follow = "GET /function/chat/after HTTP/1.1\r\nHost: g\r\n\r\n";

describe("WebSocket", () => {
  const { open, serve, serveRaw, closing } = syncFixture();
  const serveWebSocket = async (...args: Parameters<typeof openWebSocketFunction>) =>
    closing(await openWebSocketFunction(...args));

  /** Opens one through the gateway with Node's own client. */
  const connect = async (gateway: SyncGateway, path = "chat"): Promise<WebSocket> => {
    const socket = closing(new WebSocket(`ws://127.0.0.1:${gateway.port}/function/${path}`));
    await once(socket, "open");
    return socket;
  };
  const next = async (socket: WebSocket): Promise<unknown> => {
    const [event] = (await once(socket, "message")) as [MessageEvent];
    return event.data;
  };

  test("messages pass both ways, and the function sees the headers of a call", async () => {
    const fn = await serveWebSocket();
    const gateway = await open();
    gateway.deploy("chat", { addresses: [fn.address] });
    const socket = await connect(gateway, "chat/room/1?user=2");
    for (const text of ["hello", "x".repeat(200), "y".repeat(100_000)]) {
      const reply = next(socket);
      socket.send(text);
      expect(await reply).toBe(text);
    }
    const [seen] = fn.handshakes;
    expect(seen?.url).toBe("/room/1?user=2");
    expect(seen?.headers).toMatchObject({
      host: fn.address,
      connection: "upgrade",
      upgrade: "websocket",
      "x-forwarded-for": "127.0.0.1",
      "x-call-id": expect.stringMatching(/^[0-9a-f-]{36}$/),
      traceparent: expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/),
    });
    const closed = once(socket, "close");
    socket.close(1000);
    expect(await closed).toMatchObject([{ code: 1000, wasClean: true }]);
    await expect.poll(() => fn.open).toBe(0);
  });

  test("the 101 passes through with the headers that the gateway adds", async () => {
    const fn = await serveWebSocket();
    const gateway = await open();
    gateway.deploy("chat", { addresses: [fn.address] });
    const client = closing(await openRawClient(gateway.port));
    client.send(handshake("/function/chat"));
    await expect.poll(() => client.text).toContain("\r\n\r\n");
    const [status, ...headers] = client.text.split("\r\n\r\n", 1)[0]?.split("\r\n") ?? [];
    expect(status).toBe("HTTP/1.1 101 Switching Protocols");
    expect(headers).toEqual(
      expect.arrayContaining([
        "Connection: Upgrade",
        "Upgrade: websocket",
        "X-Own: 1",
        expect.stringMatching(/^X-Call-Id: /),
      ]),
    );
    const accept = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
    expect(headers).toContain(`Sec-WebSocket-Accept: ${accept}`);
    expect(
      headers.filter((line) => /^(connection|upgrade|content-length|transfer-encoding):/i.test(line)),
    ).toHaveLength(2);
  });

  test("counts as in flight until it ends, then as 101", async () => {
    const fn = await serveWebSocket();
    const gateway = await open();
    gateway.deploy("chat", { addresses: [fn.address] });
    const socket = await connect(gateway);
    const reply = next(socket);
    socket.send("12345");
    await reply;
    expect(gateway.counts.of("chat.functions")).toMatchObject({ inFlight: 1, finished: 0 });
    expect(gateway.table.findKey("chat")?.replicas[0]?.inFlight).toBe(1);
    socket.close();
    await expect.poll(() => gateway.counts.of("chat.functions")).toMatchObject({ inFlight: 0, finished: 1 });
    expect(gateway.table.findKey("chat")?.replicas[0]?.inFlight).toBe(0);
    expect([...gateway.counts.ended()].map(([{ code }]) => code)).toEqual(["101"]);
    // A frame of 5 masked bytes and a closing one; a frame of 5 plain bytes and a closing one.
    expect(gateway.lines).toMatchObject([{ status: 101, bytesIn: 11 + 6, bytesOut: 7 + 2 }]);
  });

  test("concurrency.max holds", async () => {
    const fn = await serveWebSocket();
    const gateway = await open();
    gateway.deploy("chat", { addresses: [fn.address], annotations: { "com.service.concurrency.max": "1" } });
    const socket = await connect(gateway);
    const second = await rawRequest(gateway.port, handshake("/function/chat"));
    expect(second).toMatchObject({ status: 429, closed: true });
    socket.close();
    await expect.poll(() => gateway.counts.of("chat.functions").inFlight).toBe(0);
    await connect(gateway);
  });

  test("a protected function needs credentials, and never sees them", async () => {
    const fn = await serveWebSocket();
    const gateway = await open({
      invoker: {
        authorise: ({ authorization }) => {
          if (authorization !== "Basic good")
            throw new PlatformError("credentials_invalid", "Cannot call: credentials are wrong");
        },
      },
    });
    gateway.deploy("chat", { addresses: [fn.address], annotations: { "com.service.auth": "required" } });
    const bad = await rawRequest(gateway.port, handshake("/function/chat", "Authorization: Basic bad\r\n") + follow);
    expect(bad).toMatchObject({ status: 401, closed: true });
    expect(fn.handshakes).toEqual([]);
    const client = closing(await openRawClient(gateway.port));
    client.send(handshake("/function/chat", "Authorization: Basic good\r\n"));
    await expect.poll(() => client.text).toContain("101 Switching Protocols");
    expect(fn.handshakes[0]?.headers.authorization).toBeUndefined();
  });

  test("a function at zero is woken first, and one that does not wake is 503", async () => {
    const fn = await serveWebSocket();
    const gateway = await open({ wakeTimeout: 1_500 });
    gateway.deploy("chat", { replicas: 0 });
    const waiting = connect(gateway);
    await expect.poll(() => gateway.waker.waitingCallers).toBe(1);
    gateway.setReplicas("chat", [fn.address]);
    const socket = await waiting;
    const reply = next(socket);
    socket.send("awake");
    expect(await reply).toBe("awake");
    gateway.deploy("cold", { replicas: 0 });
    expect(await rawRequest(gateway.port, handshake("/function/cold"))).toMatchObject({ status: 503, closed: true });
  });

  test("a function's refusal of the upgrade arrives, and nothing after it is served", async () => {
    const fn = await serve((_request, response) => {
      response.writeHead(403, { upgrade: "websocket", connection: "upgrade", "x-own": "1" });
      response.write("not ");
      setImmediate(() => response.end("you"));
    });
    const gateway = await open();
    gateway.deploy("chat", { addresses: [fn.address] });
    const client = closing(await openRawClient(gateway.port));
    client.send(handshake("/function/chat") + follow);
    await client.end();
    const replies = await client.replies(1);
    expect(replies).toMatchObject([{ status: 403, body: "not you" }]);
    expect(replies[0]?.headers).toMatchObject({ connection: "close", "x-own": "1" });
    expect(replies[0]?.headers["upgrade"]).toBeUndefined();
    expect(fn.requests.map(({ target }) => target)).toEqual(["/"]);
  });

  test("a large refusal is read to its end by a slow client", async () => {
    const fn = await serve((_request, response) => void response.writeHead(200).end("x".repeat(8_000_000)));
    const gateway = await open({ upstreamTimeout: 30_000 });
    gateway.deploy("chat", { addresses: [fn.address] });
    const client = closing(await openRawClient(gateway.port));
    client.socket.pause();
    client.send(handshake("/function/chat"));
    await expect.poll(() => gateway.counts.of("chat.functions").inFlight).toBe(1);
    client.socket.resume();
    expect((await client.replies(1, 10_000))[0]?.body.length).toBe(8_000_000);
    await client.end();
  });

  test.each([
    ["another protocol", "HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n"],
    ["no protocol", "HTTP/1.1 101 Switching\r\n\r\n"],
    ["two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc"],
    ["no HTTP", "hello\r\n\r\n"],
  ])("a reply with %s is 502", async (_name, reply) => {
    const fn = await serveRaw(reply);
    const gateway = await open();
    gateway.deploy("chat", { addresses: [fn.address] });
    expect(await rawRequest(gateway.port, handshake("/function/chat"))).toMatchObject({ status: 502, closed: true });
    await expect.poll(() => fn.open).toBe(0);
    expect(gateway.table.findKey("chat")?.replicas[0]?.inFlight).toBe(0);
  });

  test("no reply in time is 504; an open one has only an idle timeout", async () => {
    const silent = await serveRaw(() => {});
    const fn = await serveWebSocket();
    const webSocketIdle = 1_500;
    const gateway = await open({ upstreamTimeout: 1_000, invoker: { webSocketIdle } });
    gateway.deploy("silent", { addresses: [silent.address] });
    gateway.deploy("chat", { addresses: [fn.address] });
    expect(await rawRequest(gateway.port, handshake("/function/silent"))).toMatchObject({ status: 504, closed: true });
    const socket = await connect(gateway);
    const until = performance.now() + 2 * webSocketIdle;
    while (performance.now() < until) {
      const reply = next(socket);
      socket.send("still here");
      await reply;
    }
    expect(gateway.cuts).toEqual([]);
    await once(socket, "close");
    await expect.poll(() => fn.open).toBe(0);
    await expect.poll(() => gateway.cuts).toEqual(["idle"]);
  });

  test("a refusing replica is skipped once", async () => {
    const fn = await serveWebSocket();
    const gateway = await open();
    gateway.deploy("chat", { addresses: [await freeAddress(), fn.address] });
    for (let round = 0; round < 4; round += 1) (await connect(gateway)).close();
    expect(fn.handshakes).toHaveLength(4);
  });

  test("what the client sends ahead of the 101 reaches the function, and nothing else does", async () => {
    const connections: Duplex[] = [];
    let received = "";
    const fn = await serveWebSocket(undefined, (connection) => {
      connections.push(connection);
      connection.on("data", (chunk: Buffer) => (received += chunk.toString("latin1")));
    });
    const gateway = await open();
    gateway.deploy("chat", { replicas: 0 });
    const client = closing(await openRawClient(gateway.port));
    client.send(`${handshake("/function/chat")}${follow}`);
    await expect.poll(() => gateway.waker.waitingCallers).toBe(1);
    client.send("more");
    gateway.setReplicas("chat", [fn.address]);
    await expect.poll(() => received).toBe(`${follow}more`);
    // H8: what looks like a request is no longer one.
    client.send(follow);
    await expect.poll(() => received).toBe(`${follow}more${follow}`);
    connections[0]?.write(textFrame("hi"));
    await expect.poll(() => client.text.endsWith("\x81\x02hi")).toBe(true);
    expect(client.text.match(/HTTP\/1\.1/g)).toHaveLength(1);
  });

  test.each([
    ["another protocol", handshake("/function/chat").replace("websocket", "h2c")],
    ["a list of protocols", handshake("/function/chat").replace("websocket", "websocket, h2c")],
    ["no option in Connection", handshake("/function/chat").replace("Connection: Upgrade\r\n", "")],
    [
      "another method",
      handshake("/function/chat").replace("GET", "POST").replace("\r\n\r\n", "\r\nContent-Length: 0\r\n\r\n"),
    ],
    ["a body", `${handshake("/function/chat", "Content-Length: 2\r\n")}hi`],
    ["HTTP/1.0", handshake("/function/chat", "Connection: keep-alive\r\n").replace("HTTP/1.1", "HTTP/1.0")],
  ])("an upgrade with %s is ignored, and the last request of its connection", async (_name, bytes) => {
    const fn = await serveWebSocket();
    const plain = await serve((request, response) => response.end(request.url));
    const gateway = await open();
    gateway.deploy("chat", { addresses: [plain.address] });
    const client = closing(await openRawClient(gateway.port));
    client.send(bytes + follow);
    await client.end();
    expect(await client.replies(1)).toMatchObject([{ status: 200, body: "/" }]);
    expect(plain.requests).toHaveLength(1);
    expect(plain.requests[0]?.headers["upgrade"]).toBeUndefined();
    expect(plain.requests[0]?.headers["connection"]).toBe("keep-alive");
    expect(fn.handshakes).toEqual([]);
  });

  test.each(["/async-function/chat", "/system/info", "/"])("an upgrade of %s is ignored", async (target) => {
    const gateway = await open();
    const reply = await rawRequest(gateway.port, handshake(target));
    expect([200, 202]).toContain(reply.status);
    expect(reply.closed).toBe(true);
  });

  test("a malformed handshake is refused and closed", async () => {
    const fn = await serveWebSocket();
    const gateway = await open();
    gateway.deploy("chat", { addresses: [fn.address] });
    const twice = await rawRequest(gateway.port, handshake("/function/chat", "Host: h\r\n"));
    expect(twice).toMatchObject({ status: 400, closed: true });
    const unknown = await rawRequest(gateway.port, handshake("/function/nobody"));
    expect(unknown).toMatchObject({ status: 404, closed: true });
    expect(fn.handshakes).toEqual([]);
  });

  test("one that is pipelined behind an open request does not take over its connection", async () => {
    const plain = await serve((request, response) => response.end(request.url));
    const gateway = await open();
    gateway.deploy("chat", { addresses: [plain.address] });
    const client = closing(await openRawClient(gateway.port));
    client.send(`GET /function/chat/first HTTP/1.1\r\nHost: g\r\n\r\n${handshake("/function/chat/second")}${follow}`);
    await client.end();
    expect((await client.replies(2)).map(({ body }) => body)).toEqual(["/first", "/second"]);
  });
});
