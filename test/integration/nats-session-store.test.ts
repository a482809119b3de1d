import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { NatsLink } from "../../runtime/adapters/nats/link/nats-link.ts";
import { NatsQueueStore } from "../../runtime/adapters/nats/queues/nats-queue-store.ts";
import { NatsSessionStore } from "../../runtime/adapters/nats/stores/nats-session-store.ts";
import { natsUser } from "../../runtime/api/broker/nats-users.ts";
import { sampleQueue } from "../contract/samples.ts";
import { sessionStoreContract } from "../contract/session-store.contract.ts";
import { eventually } from "../support/eventually.ts";
import { openNatsServer, type TestNatsServer } from "../support/nats-server.ts";
import { smallStreamFacts } from "../support/small-stream-facts.ts";

/** With the rights that the gateway's user has. */
let server: TestNatsServer;

const connect = (user: string): Promise<NatsLink> =>
  NatsLink.open({ name: user, pingInterval: 5_000, ...server.access(user) });

beforeAll(async () => {
  server = await openNatsServer({ users: true });
  const doctor = await connect(natsUser.doctor);
  await new NatsQueueStore(doctor, smallStreamFacts).provision([sampleQueue({ ackWait: 1_000, maxLength: 6 })]);
  await doctor.close();
});
afterAll(async () => {
  await server?.close();
});

describe("NatsSessionStore", () => {
  sessionStoreContract(async () => {
    const link = await connect(natsUser.gateway);
    return { store: new NatsSessionStore(link), close: () => link.close() };
  });

  test("when the broker is away, it says for how long, and everything else is provider_unavailable", async () => {
    const link = await connect(natsUser.gateway);
    const store = new NatsSessionStore(link);
    await server.kill();
    await eventually(() => store.awayFor() > 0, { what: "the loss of the connection" });
    await expect(store.get("key")).rejects.toMatchObject({ code: "provider_unavailable" });
    await expect(store.remove("key")).rejects.toMatchObject({ code: "provider_unavailable" });
    await server.restart();
    await eventually(() => store.awayFor() === 0, { what: "the connection" });
    await link.close();
  });
});
