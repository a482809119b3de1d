import { expect, test } from "vitest";

import type { QueuedCall } from "../../runtime/core/calls/call.ts";
import { eventually } from "../support/eventually.ts";
import { openFunctionServer } from "../support/function-server.ts";
import { openHttp2Client } from "../support/http2-client.ts";
import { MemoryCallQueue } from "../support/memory/memory-call-queue.ts";
import { openMemoryAsyncInvoker } from "../support/memory-async-invoker.ts";
import { openRawClient } from "../support/raw-client.ts";
import { openRawReplica, type ReplicaConnection } from "../support/raw-replica.ts";
import { selfSigned } from "../support/self-signed.ts";
import { openSyncGateway } from "../support/sync-gateway.ts";
import { sendVerbatim } from "../support/verbatim-request.ts";

/** Browsers send the cookies of the console to functions of the same host, too, and take cookies from these. */
const sent = ["Cookie", "theme=dark; weir-session=secret; lang=de", "Cookie", "__Host-weir=secret; weir-login=secret"];

test("a function neither gets a session's cookie nor sets one", async () => {
  const seen = await openFunctionServer((_request, response) => {
    response.setHeader("Set-Cookie", [
      "weir-session=mine; Path=/system",
      "theme=light",
      "__Host-weir=mine; Path=/; Secure",
    ]);
    response.end("ok");
  });
  const gateway = await openSyncGateway();
  try {
    gateway.deploy("shop", { addresses: [seen.address] });
    const reply = await sendVerbatim(gateway.port, { target: "/function/shop", headers: sent });
    expect([reply.status, reply.headers.getSetCookie()]).toEqual([200, ["theme=light"]]);
    expect(seen.requests.map(({ headers }) => headers["cookie"])).toEqual(["theme=dark; lang=de"]);
  } finally {
    await gateway.close();
    await seen.close();
  }
});

test("nor does a queued call carry one", async () => {
  const queued: QueuedCall[] = [];
  class SeenQueue extends MemoryCallQueue {
    override put(...given: Parameters<MemoryCallQueue["put"]>): ReturnType<MemoryCallQueue["put"]> {
      queued.push(given[0]);
      return super.put(...given);
    }
  }
  const gateway = await openSyncGateway({ invokeAsync: (...call) => invokeAsync(...call) });
  const invokeAsync = openMemoryAsyncInvoker(gateway.table, { calls: new SeenQueue({ ackWait: 60_000 }) });
  try {
    gateway.deploy("shop");
    const reply = await sendVerbatim(gateway.port, { method: "POST", target: "/async-function/shop", headers: sent });
    expect(reply.status).toBe(202);
    const [{ headers }] = queued as [QueuedCall];
    expect(headers.filter((_, index) => headers[index - 1]?.toLowerCase() === "cookie")).toEqual([
      "theme=dark; lang=de",
    ]);
    expect(headers.join()).not.toContain("secret");
  } finally {
    await gateway.close();
  }
});

test("nor does the handshake of a WebSocket, either way", async () => {
  const replica = await openRawReplica(({ write }) =>
    write(
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
        "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n" +
        "Set-Cookie: weir-session=mine; Path=/\r\nSet-Cookie: theme=light\r\n\r\n",
    ),
  );
  const gateway = await openSyncGateway();
  gateway.deploy("shop", { addresses: [replica.address] });
  const client = await openRawClient(gateway.port);
  try {
    client.send(
      "GET /function/shop HTTP/1.1\r\nHost: g\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" +
        "Cookie: theme=dark; weir-session=secret\r\nX-Own: 1\r\n\r\n",
    );
    await eventually(() => client.text.includes("\r\n\r\n"), { what: "the handshake" });
    expect(client.text).toMatch(/^HTTP\/1\.1 101 /);
    expect(client.text).toContain("theme=light");
    expect(client.text).not.toContain("weir-session");
    const [{ received }] = replica.connections as [ReplicaConnection];
    expect(received).toMatch(/\r\ncookie: theme=dark\r\n/i);
    expect(received).not.toContain("secret");
  } finally {
    client.close();
    await gateway.close();
    await replica.close();
  }
});

test("over HTTP/2, where each cookie may have a line of its own, it is the same", async () => {
  const seen = await openFunctionServer((_request, response) => {
    response.setHeader("Set-Cookie", ["__Host-weir=mine; Path=/; Secure", "theme=light"]);
    response.end("ok");
  });
  const tls = await selfSigned();
  const gateway = await openSyncGateway({ server: { tls } });
  const client = await openHttp2Client(gateway.port, tls.cert);
  try {
    gateway.deploy("shop", { addresses: [seen.address] });
    const cookies = ["theme=dark", "__Host-weir=secret", "lang=de"].flatMap((each) => ["cookie", each]);
    const reply = await client.ask([":method", "GET", ":path", "/function/shop", ...cookies]);
    expect([reply.status, reply.headers["set-cookie"]]).toEqual([200, ["theme=light"]]);
    expect(seen.requests.map(({ headers }) => headers["cookie"])).toEqual(["theme=dark; lang=de"]);
  } finally {
    client.close();
    await gateway.close();
    await seen.close();
  }
});
