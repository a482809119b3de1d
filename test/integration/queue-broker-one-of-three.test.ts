import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";

import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";

import { NatsCallLedger } from "../../runtime/adapters/nats/records/nats-call-ledger.ts";
import { NatsCallQueue } from "../../runtime/adapters/nats/queues/nats-call-queue.ts";
import { NatsLink } from "../../runtime/adapters/nats/link/nats-link.ts";
import { doctorAdapters } from "../../runtime/adapters/nats/open-nats.ts";
import { callSource } from "../../runtime/adapters/nats/queues/worker-sources.ts";
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
const maxCalls = 900;
/** Milliseconds between two calls. */
const interval = 25;
/** Milliseconds for which acceptance or runs may be away when one of three servers hangs or ends. */
const longestAway = 10_000;
const queue = sampleQueue({ ackWait: 5_000 });

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
  test("FB13 dead at the start, it is passed over, wherever it is named", async () => {
    const server = serverNamed("nats-2");
    await server.end();
    try {
      figure("S9", `${inWords(await openBeside(server))} to reach a broker with one of three servers dead`);
    } finally {
      await server.restart();
    }
  });

  test("FB13 frozen at the start, it is passed over, wherever it is named", async () => {
    const server = serverNamed("nats-0");
    await server.pause();
    try {
      figure("S9", `${inWords(await openBeside(server))} to reach a broker with one of three servers frozen`);
    } finally {
      server.resume();
    }
  });
});

const streams = [queueStream(queue.name), bucketStream(bucket.calls)];

/** Names of the servers that lead the queue and the records. */
async function leaders(): Promise<readonly string[]> {
  const leaderOf = async (stream: string) => (await doctor.jsm.streams.info(stream)).cluster?.leader;
  return eventually(
    async () => {
      const found = (await Promise.all(streams.map(leaderOf))).filter((name) => name !== undefined);
      return found.length === streams.length ? found : undefined;
    },
    { what: "leaders of all streams" },
  );
}

/** A link to this server that knows of the others. */
async function openAt({ url }: ClusterServer, user: string): Promise<NatsLink> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const link = await NatsLink.open(cluster.access(user));
    if (link.nc.getServer() === new URL(url).host) {
      links.push(link);
      return link;
    }
    await link.close();
  }
  throw new Error(`no link to ${url}`);
}

/** What became of calls while something happened to a server. */
interface Account {
  readonly refused: readonly string[];
  /** Milliseconds of the slowest acceptance. */
  readonly slowest: number;
  /** Longest time without a run, milliseconds. */
  readonly withoutRun: number;
}

/**
 * Queues and takes calls at a steady rate through links to the server `at`, has `happen` done, and goes on until calls
 * have been accepted and run for a while since.
 */
async function whileCallsFlow(at: ClusterServer, happen: () => Promise<unknown>): Promise<Account> {
  await cluster.untilWell();
  const gateway = await openAt(at, natsUser.gateway);
  const worker = await openAt(at, natsUser.worker(queue.name));
  const parts = {
    ledger: new NatsCallLedger(gateway, () => 3_600_000, { accepts: true }),
    calls: new NatsCallQueue(gateway),
    acceptTimeout: 12_000,
  };
  const stop = new AbortController();
  const runs = [performance.now()];
  const ran = new Set<string>();
  const access = cluster.access(natsUser.worker(queue.name));
  const taking = callSource(worker, queue.name, queue.ackWait, access.inboxPrefix, undefined).take(
    16,
    async (delivery) => {
      runs.push(performance.now());
      if ("read" in delivery.content) ran.add(delivery.content.read.id);
      await delivery.acknowledge();
    },
    stop.signal,
  );
  const refused: string[] = [];
  const accepted: string[] = [];
  let slowest = 0;
  const send = async (): Promise<void> => {
    const id = randomUUID();
    const began = performance.now();
    // Also while the link dials: else an acceptance would not wait for an election.
    expect(parts.calls.isReplicated).toBe(true);
    try {
      await acceptCall(parts, sampleCall({ id }), 0);
      accepted.push(id);
    } catch (err) {
      if (!(err instanceof PlatformError)) throw err;
      refused.push(err.message);
    }
    slowest = Math.max(slowest, performance.now() - began);
  };
  const sent: Promise<void>[] = [];
  const flow = async (enough: () => boolean): Promise<void> => {
    for (let count = 0; count < maxCalls && !enough(); count += 1) {
      sent.push(send());
      await pause(interval);
    }
  };
  const until = (moment: number) => () => performance.now() >= moment;
  await flow(() => ran.size >= 20);
  let happened = false;
  const happening = happen().finally(() => {
    happened = true;
  });
  await flow(() => happened);
  await happening;
  await flow(until(performance.now() + 1_000));
  await Promise.all(sent);
  await flow(until(performance.now() + 500));
  await Promise.all(sent);
  await eventually(() => accepted.every((id) => ran.has(id)), { what: "every accepted call to have run" });
  const last = Math.max(...runs);
  stop.abort();
  await taking;
  const gaps = runs.map((time, index) => time - (runs[index - 1] ?? time));
  expect(last).toBe(runs.at(-1));
  return { refused, slowest, withoutRun: Math.max(...gaps) };
}

/** Has a server announce that it ends ("lame duck"), which it does within two minutes, and waits for its clients to go. */
async function leave(server: ClusterServer): Promise<void> {
  server.signal("SIGUSR2");
  const clients = async (): Promise<unknown> => (await fetch(`${server.monitorUrl}/connz`)).json();
  await eventually(async () => JSON.stringify(await clients()).includes('"num_connections":0'), {
    what: "no clients of a server that ends",
  });
}

function say(what: string, { refused, slowest, withoutRun }: Account): void {
  const times = `the slowest was accepted after ${inWords(slowest)}, none ran for ${inWords(withoutRun)}`;
  figure("S9", `${what}: ${refused.length} calls refused, ${times}`);
}

describe("one of three servers, while calls flow through it", () => {
  test.each([
    ["leads the queue", (led: readonly string[], name: string) => led[0] === name],
    ["leads neither queue nor records", (led: readonly string[], name: string) => !led.includes(name)],
  ])("FB13 frozen, and it %s: no call is refused", async (what, isMeant) => {
    await cluster.untilWell();
    const led = await leaders();
    const server = serverNamed(cluster.servers.find(({ name }) => isMeant(led, name))?.name);
    const account = await whileCallsFlow(server, () => server.pause()).finally(() => server.resume());
    say(`a server frozen that ${what}`, account);
    expect(account.refused).toEqual([]);
    expect(account.withoutRun).toBeLessThan(3 * longestAway);
  });

  test.each(["SIGKILL", "SIGTERM", "SIGUSR2"] as const)(
    "FB13 the queue's leader gets %s: no call is refused",
    async (signal) => {
      await cluster.untilWell();
      const server = serverNamed((await leaders())[0]);
      const account = await whileCallsFlow(server, () => (signal === "SIGUSR2" ? leave(server) : server.end(signal)));
      await server.end();
      await server.restart();
      say(`the leader ended by ${signal}`, account);
      expect(account.refused).toEqual([]);
      expect(account.withoutRun).toBeLessThan(3 * longestAway);
    },
  );
});
