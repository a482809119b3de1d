import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { createServer as createTcpServer, type AddressInfo, type Socket } from "node:net";

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

import { enginePorts } from "../../runtime/core/callbacks/callback-origins.ts";
import { machineNetwork } from "../../runtime/adapters/http/outside/outside-network.ts";
import {
  HttpCallbackSender,
  type CallbackSenderOptions,
} from "../../runtime/adapters/http/callbacks/http-callback-sender.ts";
import type { CallbackRules } from "../../runtime/core/callbacks/callback-policy.ts";
import type { CallbackOutcome } from "../../runtime/core/ports/callback-sender.ts";
import { testNetwork, type TestNetwork } from "../support/callback-network.ts";
import { openCallbackSink, type CallbackSink } from "../support/callback-sink.ts";
import { eventually } from "../support/eventually.ts";
import { openRawReplica } from "../support/raw-replica.ts";
import { brokenReplies, wholeReplies } from "../support/raw-replies.ts";
import { openRawFunction } from "../support/function-server.ts";

const closing: (() => Promise<void>)[] = [];
/** Nothing in this file leaves loopback. */
let network: TestNetwork;
beforeEach(() => {
  network = testNetwork();
});
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const rules = (over: Partial<CallbackRules> = {}): CallbackRules => ({
  policy: "any",
  allow: [],
  gatewayOrigins: [],
  closedPorts: [],
  ...over,
});

function sender(over: Partial<CallbackRules> = {}, options: Partial<CallbackSenderOptions> = {}): HttpCallbackSender {
  const made = new HttpCallbackSender({
    rules: rules(over),
    gatewayOrigin: undefined,
    headTimeout: 400,
    timeout: 1_200,
    network,
    ...options,
  });
  closing.push(() => made.close());
  return made;
}
async function sink(): Promise<CallbackSink> {
  const opened = await openCallbackSink();
  closing.push(() => opened.close());
  return opened;
}
/** Counts connections, and never responds. */
async function trap(): Promise<{ readonly port: number; readonly connections: number }> {
  let connections = 0;
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    connections++;
    sockets.add(socket);
    socket.on("error", () => {});
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closing.push(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, "close");
  });
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return connections;
    },
  };
}
function send(by: HttpCallbackSender, url: string, signal = new AbortController().signal): Promise<CallbackOutcome> {
  const headers = [
    "X-Call-Id",
    "6b1f7f6e-40a5-4a0e-9a53-3ad9f7a7f0d1",
    "X-Many",
    "1",
    "X-Many",
    "2",
    "User-Agent",
    "queue-worker/1",
  ];
  return by.send({ url, headers, body: Buffer.from("out") }, signal);
}

describe("a callback", () => {
  test("is POSTed with its headers and body, and no others", async () => {
    const received = await sink();
    expect(await send(sender(), `${received.url}/a%2Fb?x=1&y`)).toEqual({
      kind: "responded",
      status: 200,
      retryAfter: undefined,
    });
    const [got] = received.received;
    expect(got).toMatchObject({ method: "POST", target: "/callback/a%2Fb?x=1&y" });
    expect(got?.body.toString()).toBe("out");
    expect(got?.headers).toEqual({
      host: `127.0.0.1:${received.port}`,
      connection: expect.any(String),
      "content-length": "3",
      "user-agent": "queue-worker/1",
      "x-call-id": "6b1f7f6e-40a5-4a0e-9a53-3ad9f7a7f0d1",
      "x-many": "1, 2",
    });
  });

  test("reaches a receiver by name", async () => {
    const received = await sink();
    expect(await send(sender(), received.url.replace("127.0.0.1", "localhost"))).toMatchObject({
      kind: "responded",
      status: 200,
    });
    expect(received.received[0]?.headers["host"]).toBe(`localhost:${received.port}`);
  });

  test.each([201, 404, 410, 429, 500, 503])("has the outcome of a %i", async (status) => {
    const received = await sink();
    received.answerNext({ kind: "status", status, headers: { "Retry-After": "7" } });
    expect(await send(sender(), received.url)).toEqual({ kind: "responded", status, retryAfter: "7" });
  });

  test.each([301, 302, 303, 307, 308])("follows no redirect: %i", async (status) => {
    const [received, other] = [await sink(), await sink()];
    received.answerNext({ kind: "status", status, headers: { Location: other.url } });
    expect(await send(sender(), received.url)).toMatchObject({ kind: "responded", status });
    expect(other.received).toEqual([]);
  });

  test("sends no cookie that a response set", async () => {
    const received = await sink();
    received.answerNext({ kind: "status", status: 200, headers: { "Set-Cookie": "a=1" } });
    const by = sender();
    await send(by, received.url);
    await send(by, received.url);
    expect(received.received[1]?.headers).not.toHaveProperty("cookie");
  });

  test("ignores proxies of the environment", async () => {
    const proxy = await trap();
    const received = await sink();
    for (const name of ["HTTP_PROXY", "http_proxy"]) vi.stubEnv(name, `http://127.0.0.1:${proxy.port}`);
    try {
      expect(await send(sender(), received.url)).toMatchObject({ kind: "responded" });
    } finally {
      vi.unstubAllEnvs();
    }
    expect(proxy.connections).toBe(0);
  });

  test("is unreachable when nothing listens, the connection breaks, or the response is malformed", async () => {
    const received = await sink();
    received.answerNext({ kind: "reset" });
    expect(await send(sender(), received.url)).toMatchObject({ kind: "unreachable" });
    await received.close();
    expect(await send(sender(), received.url)).toMatchObject({
      kind: "unreachable",
      error: expect.stringMatching(/./),
    });
    for (const reply of [
      "nonsense\r\n\r\n",
      `HTTP/1.1 200 OK\r\nX: ${"a".repeat(70_000)}\r\n\r\n`,
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx",
    ]) {
      const raw = await openRawFunction(reply);
      closing.push(() => raw.close());
      expect(await send(sender(), `http://${raw.address}/`)).toMatchObject({ kind: "unreachable" });
    }
  });

  test("with headers that cannot be sent is unreachable, and nothing is thrown", async () => {
    const received = await sink();
    const outcome = await sender().send(
      { url: received.url, headers: ["X-Bad", "a\r\nb: c"], body: Buffer.alloc(0) },
      new AbortController().signal,
    );
    expect(outcome).toMatchObject({ kind: "unreachable" });
    expect(received.received).toEqual([]);
  });
});

describe("limits", () => {
  test("of time to the head of the response", async () => {
    const received = await sink();
    received.answerAlways({ kind: "hang" });
    const startedAt = performance.now();
    expect(await send(sender(), received.url)).toMatchObject({ kind: "unreachable" });
    expect(performance.now() - startedAt).toBeGreaterThan(350);
  });

  test("of time in all: a response that trickles is aborted", async () => {
    let closed = false;
    const timers = new Set<NodeJS.Timeout>();
    const raw = await openRawFunction((socket) => {
      socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
      timers.add(setInterval(() => socket.write("1\r\nx\r\n"), 20));
      socket.on("close", () => {
        closed = true;
        for (const timer of timers) clearInterval(timer);
      });
    });
    closing.push(() => raw.close());
    const startedAt = performance.now();
    expect(await send(sender(), `http://${raw.address}/`)).toMatchObject({ kind: "unreachable" });
    expect(performance.now() - startedAt).toBeGreaterThan(1_150);
    await eventually(() => closed, { what: "the connection to be closed" });
  });

  test("of 64 KiB of a response: its status counts, the rest is not read", async () => {
    let closed = false;
    let written = 0;
    const raw = await openRawFunction((socket) => {
      socket.on("close", () => (closed = true));
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n");
      const more = (err?: Error | null): void => {
        if (closed || (err !== undefined && err !== null)) return;
        written += 16_384;
        socket.write(Buffer.alloc(16_384), more);
      };
      more();
    });
    closing.push(() => raw.close());
    expect(await send(sender(), `http://${raw.address}/`)).toMatchObject({ kind: "responded", status: 200 });
    await eventually(() => closed, { what: "the connection to be closed" });
    expect(written).toBeLessThan(50_000_000);
  });

  test("a worker that stops: aborted at once, before the start and in flight", async () => {
    const received = await sink();
    received.answerAlways({ kind: "hang" });
    const stopped = new AbortController();
    stopped.abort();
    expect(await send(sender(), received.url, stopped.signal)).toMatchObject({ kind: "unreachable" });
    expect(received.received).toEqual([]);
    const stop = new AbortController();
    const sending = send(sender({}, { headTimeout: 60_000, timeout: 60_000 }), received.url, stop.signal);
    await eventually(() => received.received.length === 1, { what: "the callback" });
    stop.abort();
    const stoppedAt = performance.now();
    expect(await sending).toMatchObject({ kind: "unreachable" });
    expect(performance.now() - stoppedAt).toBeLessThan(30_000);
  });
});

test.each(wholeReplies.filter(({ method }) => method === undefined))(
  "a whole reply counts, whatever follows it: $name",
  async ({ bytes, later, ends, status }) => {
    const replica = await openRawReplica((connection) => {
      connection.write(bytes);
      if (later !== undefined) setTimeout(() => connection.write(later), 20);
      if (ends === true) connection.socket.end();
    });
    closing.push(() => replica.close());
    const by = sender();
    for (let round = 0; round < 3; round += 1)
      expect(await send(by, `http://${replica.address}/`)).toMatchObject({ kind: "responded", status });
  },
);

test.each(brokenReplies.filter(({ kind }) => kind === "reset"))(
  "a reply that is none does not count: $name",
  async ({ bytes, ends }) => {
    const replica = await openRawReplica((connection) => {
      connection.write(bytes);
      if (ends === true) connection.socket.end();
    });
    closing.push(() => replica.close());
    expect(await send(sender(), `http://${replica.address}/`)).toMatchObject({ kind: "unreachable" });
  },
);

describe("where it may go", () => {
  test.each(["127.0.0.1", "127.1", "0x7f000001", "0177.0.0.1", "2130706433", "[::ffff:127.0.0.1]", "localhost"])(
    "under public never to %s, not even a connection",
    async (host) => {
      const here = await trap();
      expect(await send(sender({ policy: "public" }), `http://${host}:${here.port}/`)).toMatchObject({
        kind: "forbidden",
      });
      expect(here.connections).toBe(0);
    },
  );

  test.each(["[::1]", "[::0001]", "[0:0:0:0:0:0:0:1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[fd00::1]"])(
    "under public never to %s, not even a connection",
    async (host) => {
      expect(await send(sender({ policy: "public" }), `http://${host}:1234/`)).toMatchObject({ kind: "forbidden" });
      expect(network.dialled).toEqual([]);
    },
  );

  test.each([
    "http://169.254.169.254/latest",
    "http://168.63.129.16/",
    "http://192.0.0.192/opc/v2/",
    "http://100.100.100.200/",
    "http://[fd00:ec2::254]/",
    "http://metadata.google.internal/",
    "http://metadata.google.internal./",
    "http://0.0.0.0:1/",
    "http://[fe80::1]/",
    "http://224.0.0.1/",
    "http://user@127.0.0.1/",
    "file:///etc/passwd",
    "gopher://127.0.0.1/",
    "http://127.0.0.1/\r\nX: y",
    "nonsense",
  ])("never to %j, under no policy", async (url) => {
    for (const policy of ["any", "public"] as const)
      expect(await send(sender({ policy }), url)).toMatchObject({ kind: "forbidden" });
    expect(network.dialled).toEqual([]);
  });

  test.each([
    ["a private address", [["10.1.2.3"]]],
    ["loopback", [["127.0.0.1"]]],
    ["loopback as IPv4 in IPv6", [["::ffff:127.0.0.1"]]],
    ["a metadata service", [["169.254.169.254"]]],
    ["a public address and a private one", [["93.184.216.34", "192.168.0.1"]]],
    ["a private address and a public one", [["fd00::1", "2606:2800:220:1::1"]]],
  ])("under public never to a name that resolves to %s", async (_what, addresses) => {
    network = testNetwork({ "name.example": addresses });
    expect(await send(sender({ policy: "public" }), "http://name.example:80/")).toMatchObject({ kind: "forbidden" });
    expect(network.dialled).toEqual([]);
  });

  test("to the address of a name that was checked, also when the name then resolves to another", async () => {
    const received = await sink();
    network = testNetwork({ "turning.example": [["93.184.216.34"], ["10.1.2.3"]] }, { "93.184.216.34": "127.0.0.1" });
    const by = sender({ policy: "public" });
    expect(await send(by, `http://turning.example:${received.port}/callback`)).toMatchObject({ kind: "responded" });
    await by.close();
    expect(await send(sender({ policy: "public" }), `http://turning.example:${received.port}/callback`)).toMatchObject({
      kind: "forbidden",
    });
    expect(network.dialled).toEqual(["93.184.216.34"]);
    expect(received.received).toHaveLength(1);
  });

  test.each([2_375, 2_376, 12_345])(
    "under any never to the container engine's port %i, by number or by name",
    async (port) => {
      network = testNetwork({ "engine.example": [["10.1.2.3"]], "own.example": [["203.0.113.9"]] });
      const closedPorts = enginePorts("tcp://10.1.2.3:12345");
      for (const host of [
        "127.0.0.1",
        "localhost",
        "10.1.2.3",
        "engine.example",
        "[::1]",
        "203.0.113.9",
        "own.example",
      ]) {
        const by = sender({ closedPorts, ownAddresses: () => ["203.0.113.9"] });
        expect(await send(by, `http://${host}:${port}/`)).toMatchObject({
          kind: "forbidden",
          error: `port ${port} belongs to the platform`,
        });
      }
      expect(network.dialled).toEqual([]);
    },
  );

  test("never to a port of the platform, by number or by name", async () => {
    const broker = await trap();
    const by = sender({ closedPorts: [broker.port] });
    for (const host of ["127.0.0.1", "localhost"]) {
      expect(await send(by, `http://${host}:${broker.port}/`)).toMatchObject({ kind: "forbidden" });
    }
    expect(broker.connections).toBe(0);
  });

  test("a name is refused by the address that it resolves to", async () => {
    const here = await trap();
    const outcome = await send(sender({ policy: "public" }), `http://localhost:${here.port}/`);
    expect(here.connections).toBe(0);
    expect(outcome).toMatchObject({ kind: "forbidden", error: expect.stringMatching(/is not public/) });
  });

  test("a name that does not resolve is unreachable, and may be retried", async () => {
    expect(await send(sender(), "http://no-such-host.invalid/")).toMatchObject({ kind: "unreachable" });
  });

  test("to what is explicitly allowed: a host, a host with its port, a block", async () => {
    const received = await sink();
    const byName = received.url.replace("127.0.0.1", "localhost");
    for (const [allow, url] of [
      ["localhost", byName],
      [`localhost:${received.port}`, byName],
      ["127.0.0.0/8", received.url],
    ] as const) {
      expect(await send(sender({ policy: "public", allow: [allow, "::1/128"] }), url)).toMatchObject({
        kind: "responded",
      });
    }
    expect(await send(sender({ policy: "public", allow: ["localhost:1"] }), byName)).toMatchObject({
      kind: "forbidden",
    });
    expect(received.received.length).toBe(3);
  });

  test("to the gateway: its own origins are mapped to where it listens, for functions only", async () => {
    const gateway = await sink();
    const by = sender(
      { policy: "public", gatewayOrigins: ["http://gateway.weir.svc.cluster.local.:8080", "https://faas.example.com"] },
      { gatewayOrigin: `http://127.0.0.1:${gateway.port}` },
    );
    expect(await send(by, "http://gateway.weir.svc.cluster.local.:8080/async-function/echo/x?y=1")).toMatchObject({
      kind: "responded",
    });
    expect(await send(by, "https://faas.example.com/function/echo")).toMatchObject({ kind: "responded" });
    expect(await send(by, "https://faas.example.com/system/functions")).toMatchObject({ kind: "forbidden" });
    expect(await send(by, "https://faas.example.com/function/../system/functions")).toMatchObject({
      kind: "forbidden",
    });
    expect(gateway.received.map(({ target }) => target)).toEqual(["/async-function/echo/x?y=1", "/function/echo"]);
  });

  test("to another checked address of a name when nothing listens at the first", async () => {
    const server: Server = createServer((_request, response) => response.end());
    // Listens on IPv4 only, while the name has addresses of both families.
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    closing.push(async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    });
    const { port } = server.address() as AddressInfo;
    // Real sockets, which continue with the next address; both are loopback.
    const both = { ...machineNetwork, resolve: async () => ["::1", "127.0.0.1"] };
    expect(await send(sender({}, { network: both }), `http://both.example:${port}/`)).toMatchObject({
      kind: "responded",
      status: 200,
    });
  });
});
