import { once } from "node:events";
import { connect as connectTls } from "node:tls";

import { Agent, WebSocket, type MessageEvent } from "undici";
import { beforeAll, describe, expect, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import { openHttp2Client } from "../support/http2-client.ts";
import { selfSigned } from "../support/self-signed.ts";
import { syncFixture } from "../support/sync-fixture.ts";
import type { SyncGateway, SyncGatewayOptions } from "../support/sync-gateway.ts";
import { openWebSocketFunction } from "../support/websocket-function.ts";

const key = "dGhlIHNhbXBsZSBub25jZQ==";

describe("WebSocket over TLS", () => {
  const fixture = syncFixture();
  let tls: { cert: Buffer; key: Buffer };
  beforeAll(async () => {
    tls = await selfSigned();
  });

  const open = async (options: SyncGatewayOptions = {}) => {
    const gateway = await fixture.open({ ...options, server: { tls, ...options.server } });
    const fn = fixture.closing(await openWebSocketFunction());
    gateway.deploy("chat", { addresses: [fn.address] });
    return { gateway, fn };
  };
  const connect = async (gateway: SyncGateway) => {
    const dispatcher = fixture.closing(new Agent({ connect: { ca: tls.cert }, allowH2: false }));
    const socket = fixture.closing(
      new WebSocket(`wss://localhost:${gateway.port}/function/chat/room?user=1`, { dispatcher }),
    );
    await once(socket, "open");
    return socket;
  };
  const replyTo = async (socket: WebSocket, text: string): Promise<unknown> => {
    const reply = once(socket, "message");
    socket.send(text);
    const [event] = (await reply) as [MessageEvent];
    return event.data;
  };

  test("messages pass both ways, and the function is told that TLS was used", async () => {
    const { gateway, fn } = await open();
    const socket = await connect(gateway);
    for (const text of ["hello", "x".repeat(200), "y".repeat(100_000)]) expect(await replyTo(socket, text)).toBe(text);
    expect(fn.handshakes[0]?.url).toBe("/room?user=1");
    expect(fn.handshakes[0]?.headers).toMatchObject({
      upgrade: "websocket",
      "x-forwarded-proto": "https",
      "x-forwarded-host": `localhost:${gateway.port}`,
    });
    const closed = once(socket, "close");
    socket.close(1000);
    expect(await closed).toMatchObject([{ code: 1000, wasClean: true }]);
    await eventually(() => fn.open === 0, { what: "the function to notice" });
  });

  test("works beside connections of HTTP/2 on the same port", async () => {
    const { gateway } = await open();
    const client = fixture.closing(await openHttp2Client(gateway.port, tls.cert));
    const socket = await connect(gateway);
    expect((await client.ask({ ":path": "/other" })).body).toBe("other");
    expect(await replyTo(socket, "still")).toBe("still");
    client.close();
    expect(await replyTo(socket, "here")).toBe("here");
  });

  test("is not offered over HTTP/2", async () => {
    const { gateway, fn } = await open();
    const client = fixture.closing(await openHttp2Client(gateway.port, tls.cert));
    expect(client.session.remoteSettings.enableConnectProtocol).not.toBe(true);
    const plain = await client.ask({ ":path": "/function/chat", "sec-websocket-version": "13" });
    expect(plain).toMatchObject({ status: 426, body: "speak WebSocket" });
    expect(fn.handshakes).toHaveLength(0);
  });

  test("closes after its grace when the gateway stops", async () => {
    const { gateway, fn } = await open({ server: { tls, drainTimeout: 100 } });
    const socket = await connect(gateway);
    const closed = once(socket, "close");
    await gateway.gateway.close();
    await closed;
    await eventually(() => fn.open === 0, { what: "the function to notice" });
  });

  test("a client that vanishes ends the function's connection", async () => {
    const { gateway, fn } = await open();
    // It chooses its protocol by ALPN, as browsers do.
    const socket = connectTls({ port: gateway.port, host: "localhost", ca: tls.cert, ALPNProtocols: ["http/1.1"] });
    await once(socket, "secureConnect");
    const lines = [
      "Host: g",
      "Connection: Upgrade",
      "Upgrade: websocket",
      "Sec-WebSocket-Version: 13",
      `Sec-WebSocket-Key: ${key}`,
    ];
    socket.write(`GET /function/chat HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
    const [reply] = (await once(socket, "data")) as [Buffer];
    expect(String(reply)).toMatch(/^HTTP\/1\.1 101 /);
    expect(fn.open).toBe(1);
    socket.destroy();
    await eventually(() => fn.open === 0, { what: "the function to notice" });
  });
});
