import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";

import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";

import { NatsCallLedger } from "../../runtime/adapters/nats/records/nats-call-ledger.ts";
import { NatsCallQueue } from "../../runtime/adapters/nats/queues/nats-call-queue.ts";
import { NatsLink } from "../../runtime/adapters/nats/link/nats-link.ts";
import { doctorAdapters } from "../../runtime/adapters/nats/open-nats.ts";
import { bucket, bucketStream, queueStream } from "../../runtime/adapters/nats/stream-names.ts";
import { natsUser } from "../../runtime/api/broker/nats-users.ts";
import { PlatformError } from "../../runtime/api/platform-error.ts";
import { acceptCall } from "../../runtime/core/calls/accept-call.ts";
import { openBroker } from "../../scripts/backup/broker.ts";
import { sampleCall, sampleQueue } from "../contract/samples.ts";
import { eventually } from "../support/eventually.ts";
import { figure, inWords } from "../support/figure.ts";
import { openNatsCluster, type ClusterServer, type NatsCluster } from "../support/nats-cluster.ts";

const mebibyte = 1_048_576;
/** Fewer than the queue holds. */
const calls = 900;
const killedAt = 200;
const interval = 2.5;
/** What a call may wait for the queue, less what a request in flight at that time may take; milliseconds. */
const budget = 2_500;
const queue = sampleQueue();

let cluster: NatsCluster;
let doctor: NatsLink;
const links: NatsLink[] = [];

beforeAll(async () => {
  cluster = await openNatsCluster();
  doctor = await NatsLink.open(cluster.access(natsUser.doctor));
  const facts = { maxFileStore: 512 * mebibyte, payloadLimit: mebibyte, maxCallRecords: 100_000, replicas: 3 };
  const { store, catalog } = doctorAdapters(doctor, { ...facts, oneMachine: false }, []);
  await eventually(() => store.provision([queue]).then(() => true), { every: 250, what: "streams with three copies" });
  await catalog.put(queue);
});
afterEach(async () => {
  await Promise.all(links.splice(0).map((link) => link.close()));
});
afterAll(async () => {
  await doctor?.close();
  await cluster?.close();
});

function serverNamed(name: string | undefined): ClusterServer {
  const server = cluster.servers.find((each) => each.name === name);
  if (server === undefined) throw new Error(`no server ${name}`);
  return server;
}

async function open(servers?: readonly ClusterServer[]): Promise<NatsLink> {
  const link = NatsLink.begin(cluster.access(natsUser.gateway, servers));
  links.push(link);
  await eventually(() => link.opened.then(() => true), { what: "a server that answers" });
  return link;
}

/** Opens links that name the server first, and last; gives the longest time that one took. */
async function openBeside(server: ClusterServer): Promise<number> {
  const others = cluster.servers.filter((each) => each !== server);
  let longest = 0;
  for (const named of [[server, ...others], [...others, server], [...others].reverse().concat(server)]) {
    const began = performance.now();
    const link = await open(named);
    longest = Math.max(longest, performance.now() - began);
    expect(link.nc.getServer()).not.toBe(new URL(server.url).host);
    await using backup = await openBroker(cluster.access(natsUser.doctor, named));
    expect(backup.version).not.toBe("");
  }
  return longest;
}

describe("one of three servers that no other tells of", () => {
  test("dead at the start, it is passed over, wherever it is named", async () => {
    const server = serverNamed("nats-2");
    await server.end();
    try {
      figure("S9", `${inWords(await openBeside(server))} to reach a broker with one of three servers dead`);
    } finally {
      await server.restart();
    }
  });

  test("frozen at the start, it is passed over, wherever it is named", async () => {
    const server = serverNamed("nats-0");
    await server.pause();
    try {
      figure("S9", `${inWords(await openBeside(server))} to reach a broker with one of three servers frozen`);
    } finally {
      server.resume();
    }
  });
});

/** Accepts calls at a steady rate and kills the chosen server meanwhile; gives the refusals and the slowest time. */
async function acceptBesideDeath(choose: (leaders: readonly (string | undefined)[]) => string | undefined) {
  await cluster.untilWell();
  await doctor.jsm.streams.purge(queueStream(queue.name));
  const opened = await open();
  const parts = {
    ledger: new NatsCallLedger(opened, () => 3_600_000, { accepts: true }),
    calls: new NatsCallQueue(opened),
  };
  const leaderOf = async (stream: string) => (await opened.jsm.streams.info(stream)).cluster?.leader;
  const streams = [queueStream(queue.name), bucketStream(bucket.calls)];
  const name = choose(await Promise.all(streams.map(leaderOf)));
  const victim = serverNamed(name);
  const refused: { readonly took: number; readonly message: string }[] = [];
  const slowest = { took: 0 };
  const send = async (): Promise<void> => {
    const began = performance.now();
    try {
      await acceptCall(parts, sampleCall({ id: randomUUID() }), 0);
      slowest.took = Math.max(slowest.took, performance.now() - began);
    } catch (err) {
      if (!(err instanceof PlatformError)) throw err;
      refused.push({ took: performance.now() - began, message: err.message });
    }
  };
  const sent: Promise<void>[] = [];
  for (let count = 0; count < calls; count += 1) {
    if (count === killedAt) void victim.end();
    sent.push(send());
    await pause(interval);
  }
  await Promise.all(sent);
  // The new leader accepts calls again.
  await eventually(
    () =>
      acceptCall(parts, sampleCall({ id: randomUUID() }), 0).then(
        () => true,
        () => false,
      ),
    {
      what: "a call that is accepted",
    },
  );
  await victim.restart();
  return { refused, slowest: slowest.took };
}

test("one of three servers killed that leads neither calls nor queue: none of 900 calls is refused", async () => {
  const { refused, slowest } = await acceptBesideDeath(
    (leaders) => cluster.servers.find(({ name }) => !leaders.includes(name))?.name,
  );
  figure("S9", `0 of ${calls} calls refused beside the death of a follower, the slowest took ${inWords(slowest)}`);
  expect(refused).toEqual([]);
});

test("the queue's leader killed: calls are retried until their deadline while the others elect a leader", async () => {
  const { refused } = await acceptBesideDeath(([queueLeader]) => queueLeader);
  figure("S9", `${refused.length} of ${calls} calls refused while two of three servers chose who leads the queue`);
  for (const { took, message } of refused) {
    expect(took, message).toBeGreaterThan(budget);
    expect(message).toMatch(/cannot be reached; send it again later|no answer from the queue in \d+\.\d s/);
  }
});
