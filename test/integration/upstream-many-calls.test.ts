import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

import { afterEach, expect, test } from "vitest";

import { RawUpstream } from "../../runtime/adapters/http/upstream/raw/raw-upstream.ts";
import { eventually } from "../support/eventually.ts";
import { HeardResponse } from "../support/heard-response.ts";
import { freeAddress } from "../support/sync-fixture.ts";

const calls = 1_000;
/** A connection that the kernel took back from the queue is tried again by it, each time after twice as long. */
const patience = 60_000;
const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

/** A replica that lets very few connections wait until it takes them. */
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

function sendAll(address: string): { readonly upstream: RawUpstream; readonly heard: readonly HeardResponse[] } {
  const upstream = new RawUpstream({ connectTimeout: 1_000 });
  closers.push(() => upstream.close());
  const heard = Array.from({ length: calls }, () => {
    const listener = new HeardResponse();
    upstream.dispatch(address, { method: "GET", target: "/", headers: [], body: null }, listener);
    return listener;
  });
  return { upstream, heard };
}

const over = (heard: readonly HeardResponse[], what: string) =>
  eventually(() => heard.every(({ outcome }) => outcome !== undefined), { within: patience, what });
const outcomes = (heard: readonly HeardResponse[]) => new Set(heard.map(({ outcome }) => outcome));

test(
  "calls wait for a connection where a replica takes no more of them, and all are answered",
  { timeout: 2 * patience },
  async () => {
    const server = await openNarrowReplica();
    const { heard } = sendAll(`127.0.0.1:${(server.address() as AddressInfo).port}`);
    await over(heard, "all answers");
    expect(outcomes(heard)).toEqual(new Set(["end"]));
    expect(new Set(heard.map(({ status }) => status))).toEqual(new Set([200]));
  },
);

test("calls that wait hear it when nobody listens", async () => {
  const { heard } = sendAll(await freeAddress());
  await over(heard, "all refusals");
  expect(outcomes(heard)).toEqual(new Set(["refused"]));
});

test("calls that wait hear it when their replica is gone, and when all is closed", async () => {
  const server = await openNarrowReplica();
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const forgotten = sendAll(address);
  forgotten.upstream.release(address);
  const closed = sendAll(address);
  await closed.upstream.close();
  await over([...forgotten.heard, ...closed.heard], "the end of all");
  expect(outcomes(closed.heard)).toEqual(new Set(["refused"]));
  expect(forgotten.heard.filter(({ outcome }) => outcome === "refused").length).toBeGreaterThan(calls / 2);
});
