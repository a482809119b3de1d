import { afterAll, beforeAll, expect, test } from "vitest";

import { NatsAuditTrail } from "../../runtime/adapters/nats/audit/nats-audit-trail.ts";
import { NatsLink } from "../../runtime/adapters/nats/link/nats-link.ts";
import { NatsQueueStore } from "../../runtime/adapters/nats/queues/nats-queue-store.ts";
import { natsUser } from "../../runtime/api/broker/nats-users.ts";
import { sampleRecord } from "../contract/audit-trail.contract.ts";
import { sampleQueue } from "../contract/samples.ts";
import { eventually } from "../support/eventually.ts";
import { openNatsCluster, type NatsCluster } from "../support/nats-cluster.ts";

const facts = {
  maxFileStore: 320 * 1_048_576,
  payloadLimit: 1_048_576,
  maxCallRecords: 1_000,
  replicas: 3,
  oneMachine: false,
};
const everything = { since: undefined, subject: undefined, action: undefined, allowed: undefined };

let cluster: NatsCluster;
let links: NatsLink[] = [];
let doctor: NatsLink | undefined;

beforeAll(async () => {
  cluster = await openNatsCluster();
  links = await Promise.all(cluster.servers.map((server) => NatsLink.open(cluster.access(natsUser.gateway, [server]))));
  doctor = await NatsLink.open(cluster.access(natsUser.doctor));
  const store = new NatsQueueStore(doctor, facts);
  await eventually(async () => (await store.provision([sampleQueue()]), true), { what: "the streams" });
});

afterAll(async () => {
  for (const link of [...links, doctor]) await link?.close();
  await cluster?.close();
});

test("readers at each of three servers get each record once, also when one server was away", async () => {
  const end = new AbortController();
  const trails = links.map((link) => new NatsAuditTrail(link, { lookEvery: 50 }));
  const found = trails.map((): string[] => []);
  const readings = await Promise.all(
    trails.map(async (trail, index) => {
      // A new stream's servers do not answer reads at once, and whoever reads is told to try again.
      const read = () => trail.read({ ...everything, follow: true }, end.signal);
      const records = await eventually(read, { what: "a server to answer" });
      return { records, ids: found[index] ?? [] };
    }),
  );
  const reading = readings.map(async ({ records, ids }) => {
    for await (const { id } of records) ids.push(id);
  });
  const stored = new Set<string>();
  const append = async (trail: NatsAuditTrail | undefined): Promise<void> => {
    const record = sampleRecord({ allowed: stored.size % 3 > 0 });
    await eventually(() => trail?.append(record), { what: "the record to be stored" });
    stored.add(record.id);
  };
  const arrived = (ids: readonly string[] | undefined) => (ids?.length ?? 0) >= stored.size;

  for (let index = 0; index < 30; index += 1) await append(trails[index % 3]);
  await eventually(() => found.every(arrived), { what: "all readers to have all records" });
  await cluster.servers[2]?.end();
  for (let index = 0; index < 10; index += 1) await append(trails[index % 2]);
  await eventually(() => found.slice(0, 2).every(arrived), { what: "two readers to have the new ones" });
  await cluster.servers[2]?.restart();
  await eventually(() => found.every(arrived), { what: "the third reader to have them" });
  for (const ids of found) {
    expect(ids).toHaveLength(stored.size);
    expect(new Set(ids)).toEqual(stored);
  }
  end.abort();
  await Promise.all(reading);
});
