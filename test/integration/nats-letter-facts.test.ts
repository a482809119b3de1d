import { randomUUID } from "node:crypto";

import { afterEach, beforeEach, expect, test } from "vitest";

import { NatsLetterFacts } from "../../runtime/adapters/nats/history/nats-letter-facts.ts";
import { NatsLink } from "../../runtime/adapters/nats/link/nats-link.ts";
import { NatsDeadLetters } from "../../runtime/adapters/nats/queues/nats-dead-letters.ts";
import { NatsQueueStore } from "../../runtime/adapters/nats/queues/nats-queue-store.ts";
import { natsUser } from "../../runtime/api/broker/nats-users.ts";
import type { DeadLetter, DeadLetterFacts } from "../../runtime/core/ports/dead-letters.ts";
import { sampleQueue } from "../contract/samples.ts";
import { openNatsServer, type TestNatsServer } from "../support/nats-server.ts";

const facts = {
  maxFileStore: 1_073_741_824,
  payloadLimit: 1_048_576,
  maxCallRecords: 1_000,
  replicas: 1,
  oneMachine: true,
};

let server: TestNatsServer;
let links: NatsLink[];
let letters: NatsLetterFacts;

async function connect(user: string): Promise<NatsLink> {
  const link = await NatsLink.open({ name: user, pingInterval: 1_000, ...server.access(user) });
  links.push(link);
  return link;
}

beforeEach(async () => {
  links = [];
  server = await openNatsServer({ users: true });
  letters = new NatsLetterFacts(await connect(natsUser.history), server.access(natsUser.history).inboxPrefix);
});
afterEach(async () => {
  await Promise.all(links.map((link) => link.close()));
  await server.close();
});

async function all(signal = new AbortController().signal): Promise<readonly DeadLetterFacts[]> {
  return (await Array.fromAsync(letters.all(signal))).flat();
}

function letterOf(number: number): DeadLetter {
  return {
    kind: "call",
    id: randomUUID(),
    queue: "default",
    function: { namespace: "functions", name: `f${number % 3}` },
    reason: "exhausted",
    attempts: 2,
    lastStatus: 500,
    acceptedAt: 1_800_000_000_000 + number,
    deadAt: 1_800_000_001_000 + number,
    redrives: 0,
    headers: new Map(),
    body: Buffer.alloc(20_000, 7),
  };
}

test("all dead letters are read, without what was sent, and nothing is left at the broker", async () => {
  // Before there is a stream there are none.
  expect(await all()).toEqual([]);
  const doctor = await connect(natsUser.doctor);
  await new NatsQueueStore(doctor, facts).provision([sampleQueue()], []);
  expect(await all()).toEqual([]);
  const store = new NatsDeadLetters(await connect(natsUser.worker("default")));
  const put = Array.from({ length: 1_100 }, (_, number) => letterOf(number));
  for (let from = 0; from < put.length; from += 100)
    await Promise.all(put.slice(from, from + 100).map((letter) => store.put(letter)));
  const found = await all();
  const byId = new Map(found.map((letter) => [letter.id, letter]));
  expect(byId.size).toBe(put.length);
  for (const { headers: _, body: __, ...known } of put) expect(byId.get(known.id)).toMatchObject(known);
  const { consumer_count: consumers } = (await doctor.jsm.streams.info("DLQ")).state;
  expect(consumers).toBe(0);
});

test("a reader that is told to stop stops", async () => {
  const doctor = await connect(natsUser.doctor);
  await new NatsQueueStore(doctor, facts).provision([sampleQueue()], []);
  await new NatsDeadLetters(await connect(natsUser.worker("default"))).put(letterOf(1));
  expect(await all(AbortSignal.abort())).toEqual([]);
});
