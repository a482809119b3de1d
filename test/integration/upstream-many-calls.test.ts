import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

import { afterEach, expect, test } from "vitest";

import { RawUpstream } from "../../runtime/http1/client/raw-upstream.ts";
import { eventually } from "../support/eventually.ts";
import { HeardResponse } from "../support/heard-response.ts";
import { freeAddress } from "../support/sync-fixture.ts";

const calls = 1_000;
/** The kernel retries a connection that it dropped from the backlog, each time after twice as long. */
const timeout = 60_000;
const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

/** A replica whose backlog of connections is very short. */
async function openNarrowReplica(): Promise<Server> {
  const server = createServer((_request, response) => response.end("ok"));
  server.listen({ host: "127.0.0.1", port: 0, backlog: 32 });
  await once(server, "listening");
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return server;
}

function sendAll(address: string): { readonly upstream: RawUpstream; readonly responses: readonly HeardResponse[] } {
  const upstream = new RawUpstream({ connectTimeout: 1_000 });
  closers.push(() => upstream.close());
  const responses = Array.from({ length: calls }, () => {
    const listener = new HeardResponse();
    upstream.dispatch(address, { method: "GET", target: "/", headers: [], body: null }, listener);
    return listener;
  });
  return { upstream, responses };
}

const over = (responses: readonly HeardResponse[], what: string) =>
  eventually(() => responses.every(({ outcome }) => outcome !== undefined), { within: timeout, what });
const outcomes = (responses: readonly HeardResponse[]) => new Set(responses.map(({ outcome }) => outcome));

test(
  "calls wait for a connection where a replica accepts no more, and all get a response",
  { timeout: 2 * timeout },
  async () => {
    const server = await openNarrowReplica();
    const { responses } = sendAll(`127.0.0.1:${(server.address() as AddressInfo).port}`);
    await over(responses, "all responses");
    expect(outcomes(responses)).toEqual(new Set(["end"]));
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
  },
);

test("calls that wait are refused when nothing listens", async () => {
  const { responses } = sendAll(await freeAddress());
  await over(responses, "all refusals");
  expect(outcomes(responses)).toEqual(new Set(["refused"]));
});

test("calls that wait are refused when their replica is gone, and when the upstream is closed", async () => {
  const server = await openNarrowReplica();
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const released = sendAll(address);
  released.upstream.release(address);
  const closed = sendAll(address);
  await closed.upstream.close();
  await over([...released.responses, ...closed.responses], "the end of all");
  expect(outcomes(closed.responses)).toEqual(new Set(["refused"]));
  expect(released.responses.filter(({ outcome }) => outcome === "refused").length).toBeGreaterThan(calls / 2);
});
