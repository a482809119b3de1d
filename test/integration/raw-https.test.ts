import { once } from "node:events";
import { connect } from "node:tls";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { openFunctionServer, type FunctionServer } from "../support/function-server.ts";
import { RawClient } from "../support/raw-client.ts";
import { malformedChunks, malformedRequests, refusedRequests, withTarget } from "../support/raw-requests.ts";
import { selfSigned } from "../support/self-signed.ts";
import { openSyncGateway, type SyncGateway } from "../support/sync-gateway.ts";

const target = "/function/echo";
const after = `GET ${target}/after HTTP/1.1\r\nHost: g\r\n\r\n`;

/** The rules of `security.md` §2 hold for HTTP/1.1 over TLS as they do without. */
describe("raw HTTP/1.1 over TLS", () => {
  let gateway: SyncGateway;
  let echo: FunctionServer;
  let cert: Buffer;

  beforeAll(async () => {
    const tls = await selfSigned();
    ({ cert } = tls);
    echo = await openFunctionServer((request, response, body) => response.end(`${request.url} ${body}`));
    gateway = await openSyncGateway({ server: { tls, headersTimeout: 1_000, bodyIdleTimeout: 1_000 } });
    gateway.deploy("echo", { addresses: [echo.address] });
  });
  afterAll(async () => {
    await gateway?.close();
    await echo?.close();
  });

  /** The status of each response to `bytes`, until the gateway closes the connection. */
  const statusesOf = async (bytes: string, alpn: readonly string[]) => {
    const socket = connect({ port: gateway.port, host: "localhost", ca: cert, ALPNProtocols: [...alpn] });
    await once(socket, "secureConnect");
    const client = new RawClient(socket);
    client.send(bytes);
    await client.end(15_000);
    const replies = await client.replies(1);
    client.close();
    return replies.map(({ status }) => status);
  };

  test.each(malformedRequests)("%s: 400, closed, nothing after it is served", async (_name, bytes) => {
    const before = echo.requests.length;
    expect(await statusesOf(withTarget(bytes, target) + after, ["http/1.1"])).toEqual([400]);
    expect(echo.requests.slice(before)).toEqual([]);
  });

  test.each(malformedChunks)("%s: refused, closed, the function sees no whole request", async (_name, chunks) => {
    const before = echo.requests.length;
    const head = `POST ${target} HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked\r\n\r\n`;
    expect([[400], [413]]).toContainEqual(await statusesOf(head + chunks + after, ["http/1.1"]));
    expect(echo.requests.slice(before)).toEqual([]);
  });

  test.each(refusedRequests(target))("%s: %i, closed", async (_name, status, bytes) => {
    expect(await statusesOf(bytes, [])).toEqual([status]);
  });
});
