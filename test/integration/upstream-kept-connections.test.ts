import { afterEach, beforeEach, expect, test } from "vitest";

import { RawUpstream } from "../../runtime/http1/client/raw-upstream.ts";
import type { UpstreamRequest } from "../../runtime/core/ports/upstream.ts";
import { eventually } from "../support/eventually.ts";
import { HeardResponse } from "../support/heard-response.ts";
import { openRawReplica, type RawReplica } from "../support/raw-replica.ts";

const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const request: UpstreamRequest = { method: "GET", target: "/", headers: [], body: null };

let upstream: RawUpstream;
const replicas: RawReplica[] = [];
beforeEach(() => {
  upstream = new RawUpstream({ connectTimeout: 1_000 });
});
afterEach(async () => {
  await upstream.close();
  for (const replica of replicas.splice(0)) await replica.close();
});

async function send(address: string, over: Partial<UpstreamRequest> = {}): Promise<HeardResponse> {
  const response = new HeardResponse();
  upstream.dispatch(address, { ...request, ...over }, response);
  await eventually(() => response.outcome !== undefined, { what: "the end of the call" });
  return response;
}

/** Replies to the first request of each connection; having read the second, sends `bytes` and ends the connection. */
async function closingReplica(end: "end" | "resetAndDestroy", bytes = ""): Promise<RawReplica> {
  const replica = await openRawReplica(({ socket, received, write }) => {
    if (received.split("\r\n\r\n").length === 2) write(ok);
    else if (bytes === "") socket[end]();
    else socket.write(bytes, () => socket[end]());
  });
  replicas.push(replica);
  return replica;
}

// A replica that ends a connection for idleness, or leaves, cannot know of a request that is on its way to it.
test.each<[string, Partial<UpstreamRequest>, string]>([
  ["GET", {}, ""],
  ["HEAD", { method: "HEAD" }, ""],
  ["OPTIONS", { method: "OPTIONS" }, ""],
  ["DELETE", { method: "DELETE" }, ""],
  ["PUT with its body", { method: "PUT", body: Buffer.from("hello") }, "hello"],
])("%s is sent once more, over a new connection, when a kept one ends before its reply", async (_name, over, body) => {
  for (const end of ["end", "resetAndDestroy"] as const) {
    const replica = await closingReplica(end);
    await send(replica.address);
    expect(await send(replica.address, over)).toMatchObject({ status: 200, outcome: "end" });
    expect(replica.connections).toHaveLength(2);
    expect(replica.connections[1]?.received.endsWith(`\r\n\r\n${body}`)).toBe(true);
  }
});

test.each<[string, Partial<UpstreamRequest>, string]>([
  ["its method is not idempotent", { method: "POST" }, ""],
  ["a response has begun", {}, "HTTP/1.1 1"],
])("a call is not sent once more if %s", async (_name, over, bytes) => {
  const replica = await closingReplica("end", bytes);
  await send(replica.address);
  expect(await send(replica.address, over)).toMatchObject({ outcome: "reset" });
  expect(replica.connections).toHaveLength(1);
});

test("it is sent once more only once, and not over another kept connection", async () => {
  let left = 20;
  const replica = await openRawReplica(({ socket, write }) => {
    if (left > 0) {
      left -= 1;
      if (left === 0) for (const { write: reply } of replica.connections) reply(ok);
      return;
    }
    write("");
    socket.end();
  });
  replicas.push(replica);
  await Promise.all(Array.from({ length: 20 }, () => send(replica.address)));
  expect(replica.connections).toHaveLength(20);
  expect(await send(replica.address)).toMatchObject({ outcome: "reset" });
  expect(replica.connections).toHaveLength(21);
});

test("a call that is aborted is not sent once more", async () => {
  const replica = await openRawReplica((connection) => {
    if (connection.received.split("\r\n\r\n").length === 2) connection.write(ok);
  });
  replicas.push(replica);
  await send(replica.address);
  const response = new HeardResponse();
  const call = upstream.dispatch(replica.address, request, response);
  const [kept] = replica.connections;
  await eventually(() => kept?.received.split("\r\n\r\n").length === 3, { what: "the second request" });
  call.abort();
  await eventually(() => kept?.ended, { what: "the connection to close" });
  expect(await send(replica.address)).toMatchObject({ outcome: "end" });
  expect([response.outcome, replica.connections.length]).toEqual([undefined, 2]);
});
