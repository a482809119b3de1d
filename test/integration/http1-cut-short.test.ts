import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";

import { describe, expect, onTestFinished, test } from "vitest";

import { openFunctionServer, type FunctionHandler } from "../support/function-server.ts";
import { selfSigned } from "../support/self-signed.ts";
import { openSyncGateway, type SyncGateway, type SyncGatewayOptions } from "../support/sync-gateway.ts";

/** A client of HTTP/1.0 and its one response, which ends with the connection. */
class OldClient {
  readonly socket: Socket;
  text = "";
  /** `end`: the connection was closed in order; else the error's code. */
  ending: string | undefined;

  constructor(socket: Socket, target: string) {
    this.socket = socket;
    socket.on("data", (chunk: Buffer) => (this.text += chunk.toString("latin1")));
    socket.on("end", () => (this.ending ??= "end"));
    socket.on("error", (err: NodeJS.ErrnoException) => (this.ending ??= err.code));
    socket.write(`GET ${target} HTTP/1.0\r\nHost: g\r\n\r\n`);
    onTestFinished(() => void socket.destroy());
  }

  get body(): string {
    return this.text.slice(this.text.indexOf("\r\n\r\n") + 4);
  }
}

const halves: FunctionHandler = (request, response) => {
  if (request.url === "/whole") response.write("first half,");
  if (request.url === "/whole") setImmediate(() => response.end("second half"));
  else response.write("first half,");
  if (request.url === "/broken") setImmediate(() => response.destroy());
};

async function open(options?: SyncGatewayOptions, handler = halves): Promise<SyncGateway> {
  const fn = await openFunctionServer(handler);
  const gateway = await openSyncGateway(options);
  onTestFinished(async () => {
    await gateway.close();
    await fn.close();
  });
  gateway.deploy("halves", { addresses: [fn.address] });
  return gateway;
}

const ways = ["without TLS", "over TLS"] as const;

describe.each(ways)("a body that ends with the connection, %s", (way) => {
  async function openClient(target: string, options?: SyncGatewayOptions, handler?: FunctionHandler) {
    const tls = way === "over TLS" ? await selfSigned() : undefined;
    const gateway = await open({ ...options, server: { ...(tls && { tls }), ...options?.server } }, handler);
    const to = { port: gateway.port, host: "127.0.0.1", allowHalfOpen: true };
    const socket = tls === undefined ? connect(to) : connectTls({ ...to, ca: tls.cert });
    await once(socket, tls === undefined ? "connect" : "secureConnect");
    return { gateway, client: new OldClient(socket, target) };
  }

  test("is closed in order when it is whole", async () => {
    const { client } = await openClient("/function/halves/whole");
    await expect.poll(() => client.ending).toBe("end");
    expect(client.body).toBe("first half,second half");
  });

  test("is reset when the function aborts, as a close would look like the body's end", async () => {
    const { client } = await openClient("/function/halves/broken");
    await expect.poll(() => client.ending).toBe("ECONNRESET");
    expect(client.body).toBe("first half,");
  });

  test("is reset when the gateway aborts its connections", async () => {
    const { client, gateway } = await openClient("/function/halves/held");
    await expect.poll(() => client.body).toBe("first half,");
    gateway.gateway.cutConnections();
    await expect.poll(() => client.ending).toBe("ECONNRESET");
  });

  test("is whole for a client that ended its side, and closed in order", async () => {
    let release = (): void => {};
    const { client } = await openClient("/function/halves", {}, (_request, response) => {
      response.write("first half,");
      release = () => response.end("second half");
    });
    await expect.poll(() => client.body).toBe("first half,");
    client.socket.end();
    release();
    await expect.poll(() => client.ending).toBe("end");
    expect(client.body).toBe("first half,second half");
  });

  test("is reset when the client reads nothing of it for too long", async () => {
    const size = 64 * 1024 * 1024;
    const { client, gateway } = await openClient(
      "/function/halves",
      { server: { bodyIdleTimeout: 300 } },
      (_request, response) => response.write(Buffer.alloc(size)),
    );
    client.socket.pause();
    await expect.poll(() => gateway.cuts).toEqual(["unread"]);
    client.socket.resume();
    await expect.poll(() => client.ending).toBe("ECONNRESET");
    expect(client.body.length).toBeLessThan(size);
  });

  test("of the REST API has no chunks, and is reset when it is aborted", async () => {
    const { client } = await openClient("/system/logs", {
      other: (_request, response) => response.write("first half,", () => response.destroy()),
    });
    await expect.poll(() => client.ending).toBe("ECONNRESET");
    expect(client.body).toBe("first half,");
    expect(client.text.toLowerCase()).not.toContain("transfer-encoding");
  });

  test("of the REST API is closed in order when it is whole", async () => {
    const { client } = await openClient("/system/logs", {
      other: (_request, response) => response.write("first half,", () => response.end("second half")),
    });
    await expect.poll(() => client.ending).toBe("end");
    expect(client.body).toBe("first half,second half");
  });
});
