import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { connect, type AddressInfo, type Socket } from "node:net";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { HttpCallbackSender } from "../../runtime/adapters/http/callbacks/http-callback-sender.ts";
import { HttpIssuerDocuments } from "../../runtime/adapters/http/issuers/http-issuer-documents.ts";
import { outsideNetwork, type EgressProxy } from "../../runtime/adapters/http/outside/proxied-network.ts";
import type { CallbackRules } from "../../runtime/core/callbacks/callback-policy.ts";
import { trustAuthorities, trustedAuthoritiesRule } from "../../runtime/process/files/trusted-authorities.ts";
import { testNetwork } from "../support/callback-network.ts";
import { openCallbackSink, type CallbackSink } from "../support/callback-sink.ts";
import { selfSigned } from "../support/self-signed.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const outside = "93.184.216.34";
/** Look-ups of this machine: of a host outside, one inside, and one that is inside when it is looked up again. */
const names = {
  "hook.example.com": [[outside]],
  "inside.example.com": [["10.1.2.3"]],
  "turning.example.com": [[outside], ["10.1.2.3"]],
};

const closing: (() => Promise<void>)[] = [];
let sink: CallbackSink;
/** What the proxy was asked for; it connects to `target` whatever that is. */
let asked: string[];
let target: number;
let proxy: string;
let reply: string;

beforeEach(async () => {
  sink = await openCallbackSink();
  asked = [];
  target = sink.port;
  reply = "HTTP/1.1 200 Connection established\r\n\r\n";
  const sockets = new Set<Socket>();
  const server = createServer((_request, response) => void response.writeHead(405).end());
  server.on("connect", (request, socket: Socket) => {
    asked.push(request.url ?? "");
    const on = connect(target, "127.0.0.1");
    for (const each of [socket, on]) {
      sockets.add(each);
      each.on("error", () => each.destroy());
    }
    socket.write(reply);
    if (reply.includes(" 200 ")) socket.pipe(on).pipe(socket);
    else socket.end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  proxy = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  closing.push(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, "close");
  });
});
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
  await sink.close();
});

function network(egress: Partial<EgressProxy> = {}) {
  const machine = testNetwork(names, { [outside]: "127.0.0.1" });
  return outsideNetwork({ egressProxy: proxy, egressNoProxy: [], egressProxyNames: false, ...egress }, machine);
}

function callBack(url: string, egress: Partial<EgressProxy> = {}, over: Partial<CallbackRules> = {}) {
  const rules: CallbackRules = { policy: "public", allow: [], gatewayOrigins: [], closedPorts: [], ...over };
  const limits = { headTimeout: 1_000, timeout: 2_000, gatewayOrigin: sink.url.replace("/callback", "") };
  const sender = new HttpCallbackSender({ rules, ...limits, network: network(egress) });
  closing.push(() => sender.close());
  return sender.send({ url, headers: [], body: Buffer.from("out") }, new AbortController().signal);
}
const arrived = { kind: "responded", status: 200 };

describe("callbacks by a proxy", () => {
  test("go to the address that was judged, for the name that was written", async () => {
    expect(await callBack("http://hook.example.com:8000/x")).toMatchObject(arrived);
    expect(asked).toEqual([`${outside}:8000`]);
    expect(sink.received).toMatchObject([{ target: "/x", headers: { host: "hook.example.com:8000" } }]);
  });

  test.each([
    ["http://inside.example.com/", {}],
    ["http://10.1.2.3/", {}],
    ["http://127.0.0.1:4222/", {}],
    ["http://[::ffff:10.1.2.3]/", {}],
    ["http://169.254.169.254/", {}],
    ["http://inside.example.com/", { egressProxyNames: true }],
    ["http://metadata.google.internal/", { egressProxyNames: true }],
  ])("never reach what is forbidden without one: %s %j", async (url, egress) => {
    expect(await callBack(url, egress)).toMatchObject({ kind: "forbidden" });
    expect(asked).toEqual([]);
  });

  test("are judged once: a name that turns to an address inside leads the proxy nowhere else", async () => {
    expect(await callBack("http://turning.example.com/")).toMatchObject(arrived);
    expect(asked).toEqual([`${outside}:80`]);
  });

  test("leave names to the proxy where the administrator wants that, also those that are unknown here", async () => {
    expect(await callBack("http://hook.example.com/", { egressProxyNames: true })).toMatchObject(arrived);
    expect(await callBack("http://unknown.example.com/", { egressProxyNames: true })).toMatchObject(arrived);
    expect(asked).toEqual(["hook.example.com:80", "unknown.example.com:80"]);
    expect(await callBack("http://unknown.example.com/")).toMatchObject({ kind: "unreachable" });
  });

  test.each([["hook.example.com"], [".example.com"], ["93.184.0.0/16"]])(
    "go past it to exceptions: %s",
    async (exception) => {
      const url = `http://hook.example.com:${sink.port}/`;
      expect(await callBack(url, { egressNoProxy: [exception] })).toMatchObject(arrived);
      expect(asked).toEqual([]);
    },
  );

  test("go past it to the gateway", async () => {
    const gateway = "http://gateway.weir.svc:8080";
    expect(await callBack(`${gateway}/function/next`, {}, { gatewayOrigins: [gateway] })).toMatchObject(arrived);
    expect(asked).toEqual([]);
  });

  test("say what the proxy said, or that it is not there", async () => {
    reply = "HTTP/1.1 403 Forbidden\r\n\r\n";
    const { host } = new URL(proxy);
    expect(await callBack("http://hook.example.com/")).toEqual({
      kind: "unreachable",
      error: `the proxy ${host} refused ${outside}:80 with 403`,
    });
    const error = expect.stringMatching(/^the proxy 127\.0\.0\.1:1 cannot be reached: /);
    expect(await callBack("http://hook.example.com/", { egressProxy: "http://127.0.0.1:1" })).toMatchObject({ error });
  });
});

describe("issuers by a proxy", () => {
  test("are read with TLS to the issuer itself, whose authority may be one of our own", async () => {
    const { cert, key } = await selfSigned("hook.example.com");
    const issuer = createTlsServer({ cert, key }, (_request, response) => void response.end("{}"));
    issuer.listen(0, "127.0.0.1");
    await once(issuer, "listening");
    closing.push(async () => {
      issuer.close();
      issuer.closeAllConnections();
      await once(issuer, "close");
    });
    target = (issuer.address() as AddressInfo).port;
    const url = "https://hook.example.com";
    const documents = new HttpIssuerDocuments({ closedPorts: [], network: network() });
    const read = () => documents.fetchFromIssuer({ iss: url, internal: undefined }, `${url}/keys`);
    await expect(read()).rejects.toThrow(/self-signed certificate/);

    await using directory = await tempDirectory("authorities");
    const file = join(directory.path, "ca.crt");
    await writeFile(file, `of our own\n${cert.toString()}`);
    const before = getCACertificates("default");
    try {
      trustAuthorities(file);
      expect((await read()).status).toBe(200);
    } finally {
      setDefaultCACertificates(before);
    }
    expect(asked).toEqual([`${outside}:443`, `${outside}:443`]);
    await writeFile(file, "none");
    expect(trustedAuthoritiesRule.problems({ trustedAuthorities: file })).toEqual([
      `trusted_authorities: expected PEM certificates, got none in "${file}"`,
    ]);
  });

  test("are reached past it at their internal address", async () => {
    const documents = new HttpIssuerDocuments({ closedPorts: [], network: network({}) });
    const internal = `http://127.0.0.1:${sink.port}`;
    await documents.fetchFromIssuer({ iss: "https://hook.example.com", internal }, `${internal}/keys`);
    expect(asked).toEqual([]);
    expect(sink.received).toMatchObject([{ method: "GET", target: "/keys" }]);
  });
});
