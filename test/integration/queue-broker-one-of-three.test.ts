import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";

import { afterEach, beforeEach, expect, test } from "vitest";

import { NatsCallLedger } from "../../runtime/adapters/nats/records/nats-call-ledger.ts";
import { NatsCallQueue } from "../../runtime/adapters/nats/queues/nats-call-queue.ts";
import { NatsLink } from "../../runtime/adapters/nats/link/nats-link.ts";
import { doctorAdapters } from "../../runtime/adapters/nats/open-nats.ts";
import { bucket, bucketStream, queueStream } from "../../runtime/adapters/nats/stream-names.ts";
import { PlatformError } from "../../runtime/api/platform-error.ts";
import { acceptCall } from "../../runtime/core/calls/accept-call.ts";
import { sampleCall, sampleQueue } from "../contract/samples.ts";
import { eventually } from "../support/eventually.ts";
import { figure, inWords } from "../support/figure.ts";
import { openNatsCluster, type NatsCluster } from "../support/nats-cluster.ts";

const options = { name: "test", user: undefined, password: undefined, inboxPrefix: "_INBOX.t", pingInterval: 1_000 };
const mebibyte = 1_048_576;
/** Fewer than the queue holds. */
const calls = 900;
const killedAt = 200;
const interval = 2.5;
/** What a call may wait for the queue, less what a request in flight at that time may take; milliseconds. */
const budget = 2_500;

let cluster: NatsCluster;
let link: NatsLink | undefined;

beforeEach(async () => {
  cluster = await openNatsCluster();
});
afterEach(async () => {
  await link?.close();
  link = undefined;
  await cluster.close();
});

/** Accepts calls at a steady rate and kills the chosen server meanwhile; gives the refusals and the slowest time. */
async function acceptBesideDeath(choose: (leaders: readonly (string | undefined)[]) => string | undefined) {
  const urls = cluster.servers.map(({ url }) => url);
  const opened = await NatsLink.open({ ...options, url: urls.join(",") });
  link = opened;
  const facts = { maxFileStore: 512 * mebibyte, payloadLimit: mebibyte, maxCallRecords: 100_000, replicas: 3 };
  const { store, catalog } = doctorAdapters(opened, { ...facts, oneMachine: false }, []);
  const queue = sampleQueue();
  await eventually(() => store.provision([queue]).then(() => true), { every: 250, what: "streams with three copies" });
  await catalog.put(queue);
  const parts = {
    ledger: new NatsCallLedger(opened, () => 3_600_000, { accepts: true }),
    calls: new NatsCallQueue(opened),
  };
  const leaderOf = async (stream: string) => (await opened.jsm.streams.info(stream)).cluster?.leader;
  const streams = [queueStream(queue.name), bucketStream(bucket.calls)];
  const victim = choose(await Promise.all(streams.map(leaderOf)));
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
    if (count === killedAt) void cluster.servers.find(({ name }) => name === victim)?.kill();
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
