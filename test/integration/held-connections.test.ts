import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";

import { Registry } from "prom-client";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";

import { ClientLimit } from "../../runtime/gateway/edge/client-limit.ts";
import { createHeadReader } from "../../runtime/gateway/edge/head-reader.ts";
import { Http1Server, type Http1ServerParts } from "../../runtime/gateway/edge/http1/http1-server.ts";
import { understandRequest } from "../../runtime/gateway/edge/http1/understand-request.ts";
import { startServer } from "../../runtime/gateway/edge/servers-beside.ts";
import { openHistoryApi } from "../../runtime/history/api/open-history-api.ts";
import { buildHistoryMetrics } from "../../runtime/history/history-metrics.ts";
import { openAdminServer } from "../../runtime/process/admin-server.ts";
import type { FunctionHandler } from "../../runtime/watchdog/function-handler.ts";
import { serveFunction } from "../../runtime/watchdog/serve-function.ts";
import { eventually } from "../support/eventually.ts";
import { selfSigned } from "../support/self-signed.ts";
import { serverSockets } from "../support/server-sockets.ts";
import { openSyncGateway } from "../support/sync-gateway.ts";
import { tempDirectory } from "../support/temp-directory.ts";

/** A port, or the path of a Unix socket. */
type Place = number | string;

interface Listener {
  readonly place: Place;
  readonly close: () => Promise<unknown>;
}

let tls: { cert: Buffer; key: Buffer };
let hello: Buffer;

beforeAll(async () => {
  tls = await selfSigned();
  hello = await clientHello();
});

/** Opens each kind of listener, with this time for a head. */
const listeners: Readonly<Record<string, (headersTimeout: number) => Promise<Listener>>> = {
  gateway: async (headersTimeout) => {
    const gateway = await openSyncGateway({ server: { headersTimeout } });
    return { place: gateway.port, close: () => gateway.close() };
  },
  "gateway with TLS": async (headersTimeout) => {
    const gateway = await openSyncGateway({ server: { headersTimeout, tls } });
    return { place: gateway.port, close: () => gateway.close() };
  },
  "admin port": async (headersTimeout) => {
    const admin = await openAdminServer({ host: "127.0.0.1", port: 0, headersTimeout });
    return { place: admin.port, close: () => admin.close() };
  },
  "history on a socket": async (headersTimeout) => {
    const directory = await tempDirectory("history-api");
    const api = await openHistoryApi({
      ...historyParts(),
      place: { directory: join(directory.path, "history") },
      headersTimeout,
    });
    return { place: api.address, close: () => api.close().then(() => directory[Symbol.asyncDispose]()) };
  },
  "watchdog of mode process": (headersTimeout) => watchdog(headersTimeout, {}),
  "watchdog of mode http": (headersTimeout) =>
    watchdog(headersTimeout, { upgrade: (_request, socket) => socket.destroy(), tunnel: (socket) => socket.destroy() }),
};
const overTls = ["gateway with TLS"];

const pieces = (bytes: Buffer): Buffer[] => Array.from(bytes, (byte) => Buffer.from([byte]));
const head = Buffer.from("GET / HTTP/1.1\r\nHost: g\r\n");

/** What clients do that stay and never send a request. */
const silent: Readonly<Record<string, { bytes: () => Buffer; slowly?: boolean; tls?: true }>> = {
  silence: { bytes: () => Buffer.alloc(0) },
  "half a head": { bytes: () => head },
  "a head, byte by byte": { bytes: () => Buffer.concat([head, Buffer.from("A: b\r\n".repeat(1_000))]), slowly: true },
  "half a ClientHello": { bytes: () => hello.subarray(0, 60), tls: true },
  "a ClientHello, byte by byte": { bytes: () => hello, slowly: true, tls: true },
  "a ClientHello alone": { bytes: () => hello, tls: true },
};

/** What clients do that end their side at once. */
const ended: Readonly<Record<string, { bytes: () => Buffer; tls?: true }>> = {
  nothing: { bytes: () => Buffer.alloc(0) },
  "half a head": { bytes: () => head },
  garbage: { bytes: () => Buffer.from([0, 1, 2, 3, 13, 10, 13, 10]) },
  "half a ClientHello": { bytes: () => hello.subarray(0, 60), tls: true },
  "a ClientHello alone": { bytes: () => hello, tls: true },
  "an alert": { bytes: () => Buffer.from([21, 3, 1, 0, 2, 2, 0]), tls: true },
};

describe.each(Object.entries(listeners))("%s", (name, open) => {
  const mayBeTls = overTls.includes(name);
  const fits = ({ tls: needsTls = false }): boolean => mayBeTls || !needsTls;
  let hasty: Listener;
  let patient: Listener;
  beforeAll(async () => {
    hasty = await open(400);
    patient = await open(600_000);
  });
  afterAll(async () => {
    await hasty?.close();
    await patient?.close();
  });

  test("who stays and sends no whole request is closed in time", async () => {
    const clients: Socket[] = [];
    onTestFinished(() => clients.forEach((client) => client.destroy()));
    for (const { bytes, slowly = false } of Object.values(silent).filter(fits)) {
      const client = await dial(hasty.place);
      clients.push(client);
      if (slowly) sendSlowly(client, pieces(bytes()));
      else client.write(bytes());
    }
    if (mayBeTls) {
      for (const alpn of ["http/1.1", "h2"]) {
        for (const begun of [Buffer.alloc(0), alpn === "h2" ? http2Begun : head]) {
          const client = connectTls({
            port: Number(hasty.place),
            ca: tls.cert,
            host: "localhost",
            ALPNProtocols: [alpn],
          });
          client.on("error", () => {});
          clients.push(client);
          await once(client, "secureConnect");
          client.write(begun);
        }
      }
    }
    await noneLeft(hasty.place);
  });

  test("who ends its side without a whole request is closed at once", async () => {
    const clients: Socket[] = [];
    onTestFinished(() => clients.forEach((client) => client.destroy()));
    for (const { bytes } of Object.values(ended).filter(fits)) {
      const client = await dial(patient.place);
      clients.push(client);
      client.end(bytes());
    }
    await noneLeft(patient.place);
  });

  if (mayBeTls) {
    test.each(["garbage", "an alert"] as const)("who breaks TLS by %s and stays is closed at once", async (what) => {
      const client = await dial(patient.place);
      onTestFinished(() => void client.destroy());
      client.write(ended[what]?.bytes() ?? "");
      await noneLeft(patient.place);
    });

    test("who speaks HTTP without TLS and stays is told and closed at once", async () => {
      const client = await dial(patient.place);
      onTestFinished(() => void client.destroy());
      let text = "";
      client.on("data", (chunk: Buffer) => (text += chunk.toString()));
      client.write("GET / HTTP/1.1\r\nHost: g\r\n\r\n");
      await noneLeft(patient.place);
      await expect.poll(() => text).toMatch(/^HTTP\/1\.1 400 [^]*this port speaks HTTPS/);
    });
  }
});

describe("a TLS handshake", () => {
  test("counts towards the time of the first head", async () => {
    const headersTimeout = 2_000;
    const gateway = await openSyncGateway({ server: { headersTimeout, tls } });
    onTestFinished(() => gateway.close());
    const order: string[] = [];
    const below = await dial(gateway.port);
    const began = performance.now();
    await expect.poll(() => performance.now() - began, { timeout: 10_000 }).toBeGreaterThan(headersTimeout * 0.75);
    const late = connectTls({ socket: below, ca: tls.cert, host: "localhost", servername: "localhost" });
    late.on("error", () => {}).once("data", () => order.push("late handshake"));
    await once(late, "secureConnect");
    sendSlowly(late, pieces(Buffer.concat([head, Buffer.from("A: b\r\n".repeat(1_000))])));
    const next = connectTls({ port: gateway.port, ca: tls.cert, host: "localhost" });
    onTestFinished(() => void next.destroy());
    next
      .on("error", () => {})
      .once("end", () => order.push("next connection"))
      .resume();
    await expect.poll(() => order, { timeout: 20_000 }).toEqual(["late handshake", "next connection"]);
  });

  test.each([
    ["client", { clients: new ClientLimit(3, () => false) }],
    ["all", { mostConnections: 3 }],
  ])("counts towards the limit of connections: %s", async (reason, parts) => {
    const { port, refused } = await serveTls(parts);
    const silentOnes = await Promise.all(Array.from({ length: 3 }, () => dial(port)));
    onTestFinished(() => silentOnes.forEach((client) => client.destroy()));
    await expect.poll(() => serverSockets(port)).toBe(3);
    const fourth = await dial(port);
    onTestFinished(() => void fourth.destroy());
    await expect.poll(() => refused).toEqual([reason]);
    await expect.poll(() => serverSockets(port)).toBe(3);
    for (const client of silentOnes) client.end();
    await noneLeft(port);
  });

  test("that never ends does not delay the stop", async () => {
    const gateway = await openSyncGateway({ server: { headersTimeout: 600_000, tls } });
    const client = await dial(gateway.port);
    onTestFinished(() => void client.destroy());
    await expect.poll(() => serverSockets(gateway.port)).toBe(1);
    await gateway.gateway.close();
    await gateway.close();
  });
});

/** The preface of HTTP/2, its settings, and a head that is not whole: it lacks the flag that ends it. */
const http2Begun = Buffer.concat([
  Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
  Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
  Buffer.from([0, 0, 1, 1, 0, 0, 0, 0, 1, 0x82]),
]);

/** What a client of TLS sends first. */
async function clientHello(): Promise<Buffer> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = connectTls({ port: (server.address() as AddressInfo).port, host: "127.0.0.1" });
  client.on("error", () => {});
  const [socket] = (await once(server, "connection")) as [Socket];
  const [bytes] = (await once(socket, "data")) as [Buffer];
  client.destroy();
  socket.destroy();
  server.close();
  return bytes;
}

async function dial(place: Place): Promise<Socket> {
  const client = typeof place === "number" ? connect(place, "127.0.0.1") : connect(place);
  client.allowHalfOpen = true;
  client.on("error", () => {});
  await once(client, "connect");
  return client;
}

function sendSlowly(client: Socket, bytes: readonly Buffer[]): void {
  let next = 0;
  const timer = setInterval(() => {
    const byte = bytes[next];
    next += 1;
    if (byte === undefined || client.destroyed || !client.writable) clearInterval(timer);
    else client.write(byte);
  }, 40);
  client.once("close", () => clearInterval(timer));
}

async function noneLeft(place: Place): Promise<void> {
  await eventually(async () => (await serverSockets(place)) === 0, {
    what: "no connection at the server",
    within: 15_000,
  });
}

function historyParts(): Omit<Parameters<typeof openHistoryApi>[0], "place" | "headersTimeout"> {
  const progress = async () => ({ lagSeconds: 0, complete: true, gaps: [] });
  return {
    reads: {
      list: async () => ({ rows: [], total: { value: 0, exact: true } }),
      get: async () => undefined,
      replaysOf: async () => [],
      functions: async () => [],
      gaps: async () => [],
      rollups: async () => [],
    },
    remove: async () => false,
    erase: async () => ({ calls: 0 }),
    requestRebuild: async () => {},
    progress,
    metrics: buildHistoryMetrics(new Registry()),
  };
}

async function watchdog(headersTimeout: number, more: Partial<FunctionHandler>): Promise<Listener> {
  const server = await serveFunction({
    host: "127.0.0.1",
    port: 0,
    maxInflight: 0,
    healthPath: "/_/health",
    readyPath: "/_/ready",
    headersTimeout,
    handler: {
      handle: (_request, response) => void response.end("served"),
      ready: async () => true,
      started: Promise.resolve(),
      ended: new Promise(() => {}),
      close: async () => {},
      ...more,
    },
  });
  return { place: server.port, close: () => server.drain(0) };
}

async function serveTls(parts: Partial<Http1ServerParts>): Promise<{ port: number; refused: string[] }> {
  const refused: string[] = [];
  const readHead = createHeadReader({});
  const server = new Http1Server({
    understand: (text, address, secure) => understandRequest(text, address, secure, readHead),
    serve: (exchange) => exchange.writeHead(200, { "Content-Length": "2" }).end("ok"),
    refuse: (exchange) => exchange.writeHead(400, { "Content-Length": "0" }).end(),
    onMalformed: () => {},
    headersTimeout: 600_000,
    keepAlive: 60_000,
    idle: 60_000,
    mostConnections: 100,
    clients: new ClientLimit(0, () => false),
    onTooMany: (reason) => void refused.push(reason),
    tls,
    ...parts,
  });
  const port = await startServer(server, { host: "127.0.0.1", port: 0 });
  onTestFinished(() => {
    server.closeAll();
    server.listener.close();
  });
  return { port, refused };
}
