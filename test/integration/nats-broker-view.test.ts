import { afterAll, beforeAll, expect, test } from "vitest";

import { NatsLink } from "../../runtime/adapters/nats/link/nats-link.ts";
import { doctorAdapters, gatewayBroker } from "../../runtime/adapters/nats/open-nats.ts";
import { natsUser } from "../../runtime/api/broker/nats-users.ts";
import { sampleCall, sampleEntry, sampleQueue, soon } from "../contract/samples.ts";
import { eventually } from "../support/eventually.ts";
import { openNatsServer, type TestNatsServer } from "../support/nats-server.ts";

/** What a gateway sees of the broker, with the rights of its user. */
const mebibyte = 1_048_576;
let server: TestNatsServer;
let link: NatsLink;
let doctor: NatsLink;

beforeAll(async () => {
  server = await openNatsServer({ users: true });
  const connect = (name: string) => NatsLink.open({ ...server.access(name), name, pingInterval: 500 });
  [link, doctor] = [await connect(natsUser.gateway), await connect(natsUser.doctor)];
});
afterAll(async () => {
  await link?.close();
  await doctor?.close();
  await server?.close();
});

test("the store, its copies and its fill; without a bucket, or without a broker, there is an error", async () => {
  const { broker, ledger } = gatewayBroker(link, { callMaxAge: 60_000, ackWait: 1_000, callRecordTtl: 60_000 });
  await expect(broker.store()).rejects.toMatchObject({
    code: "queue_unavailable",
    message: "Cannot read the broker's store: the bucket of call records is missing",
  });

  const facts = { maxFileStore: 320 * mebibyte, payloadLimit: mebibyte, maxCallRecords: 100, replicas: 1 };
  await doctorAdapters(doctor, { ...facts, oneMachine: false }, []).store.provision([sampleQueue()]);
  const empty = await broker.store();
  expect(empty).toMatchObject({
    whole: { limit: 320 * mebibyte },
    records: { used: 0, limit: 100 },
    recordBytes: { limit: 32 * mebibyte },
    copies: { wanted: 1, current: 1 },
  });
  const call = sampleCall();
  expect(await ledger.create(call.id, sampleEntry({}, call), soon())).toMatchObject({ kind: "created" });
  const one = await broker.store();
  expect(one.records.used).toBe(1);
  expect(one.recordBytes.used).toBeGreaterThan(0);
  expect(one.whole.used).toBeGreaterThan(empty.whole.used);
  expect(broker).toMatchObject({
    fault: undefined,
    isTooOld: false,
    version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
  });

  await server.stop();
  await eventually(() => broker.fault === "away", { what: "a broker that is away" });
  await expect(broker.store()).rejects.toMatchObject({ code: "queue_unavailable" });
});
