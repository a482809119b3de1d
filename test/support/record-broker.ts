import { randomUUID } from "node:crypto";

import { headers } from "@nats-io/transport-node";

import { NatsLink } from "../../runtime/adapters/nats/link/nats-link.ts";
import { NatsQueueStore } from "../../runtime/adapters/nats/queues/nats-queue-store.ts";
import { NatsCallLedger } from "../../runtime/adapters/nats/records/nats-call-ledger.ts";
import { bucket, keySubject } from "../../runtime/adapters/nats/stream-names.ts";
import { natsUser } from "../../runtime/api/broker/nats-users.ts";
import type { CallEntry } from "../../runtime/core/calls/call-entry.ts";
import type { CallLedger } from "../../runtime/core/ports/call-ledger.ts";
import { sampleCall, sampleEntry, sampleQueue } from "../contract/samples.ts";
import { eventually } from "./eventually.ts";
import { openNatsServer, type TestNatsServer } from "./nats-server.ts";

/** A broker with room for many call records, which a test or a bench writes. */
export interface RecordBroker extends AsyncDisposable {
  readonly server: TestNatsServer;
  /** As gateways write. */
  readonly ledger: CallLedger;
  /** Writes the records of that many calls that ended, as fast as the broker takes them; resolves with their ids. */
  flood(count: number): Promise<readonly string[]>;
}

const hour = 3_600_000;
const ttl = "3600s";
const acknowledgedEvery = 500;
const acknowledgedWithin = 10_000;

/** Opens it, with the queue `default` and the users of one machine. */
export async function openRecordBroker(): Promise<RecordBroker> {
  const opened = new AsyncDisposableStack();
  try {
    const facts = { maxFileStore: 16 * 1_073_741_824, payloadLimit: 1_048_576, maxCallRecords: 1_500_000 };
    const server = await openNatsServer({ users: true, maxFileStore: facts.maxFileStore });
    opened.defer(() => server.close());
    const connect = async (user: string): Promise<NatsLink> => {
      const link = await NatsLink.open({ name: user, pingInterval: 5_000, ...server.access(user) });
      opened.defer(() => link.close());
      return link;
    };
    const doctor = await connect(natsUser.doctor);
    await new NatsQueueStore(doctor, { ...facts, replicas: 1, oneMachine: true }).provision([sampleQueue()], []);
    const gateway = await connect(natsUser.gateway);
    return {
      server,
      ledger: new NatsCallLedger(gateway, () => hour, { accepts: true }),
      flood: (count) => flood(gateway, count),
      [Symbol.asyncDispose]: () => opened.disposeAsync(),
    };
  } catch (err) {
    await opened.disposeAsync();
    throw err;
  }
}

/** The record of a call of one of 20 functions that ended now, as a queue-worker leaves it. */
export function endedRecord(number: number): CallEntry {
  const now = Date.now();
  const startedAt = now - 12;
  const attempt = {
    number: 1,
    startedAt,
    endedAt: now,
    status: 200,
    duration: 11.25,
    worker: "node-1:4711",
    replica: "127.0.0.1:40123",
  };
  const call = sampleCall({
    function: { namespace: "functions", name: `function-${number % 20}` },
    callbackUrl: undefined,
  });
  return {
    ...sampleEntry({}, { ...call, start: BigInt(startedAt - 3) * 1_000_000n }),
    state: "done",
    run: 1,
    attempts: [attempt],
    ended: now,
    status: 200,
    callback: null,
    expires: now + hour,
  };
}

async function flood(link: NatsLink, count: number): Promise<readonly string[]> {
  await eventually(() => link.downFor() === 0, { what: "the broker to be there" });
  const { nc } = link;
  const ids: string[] = [];
  const options = { headers: headers() };
  options.headers.set("Nats-TTL", ttl);
  for (let number = 0; number < count; number += 1) {
    const id = randomUUID();
    const [subject, body] = [keySubject(bucket.calls, id), JSON.stringify(endedRecord(number))];
    ids.push(id);
    const isLast = number === count - 1;
    if (!isLast && number % acknowledgedEvery !== 0) {
      nc.publish(subject, body, options);
      continue;
    }
    // The broker stores them in their order.
    const reply = await nc.request(subject, body, { ...options, timeout: acknowledgedWithin });
    const { seq, error } = reply.json<{ readonly seq?: number; readonly error?: { readonly description: string } }>();
    if (seq === undefined) throw new Error(`Cannot store a record: ${error?.description ?? "no acknowledgement"}`);
  }
  return ids;
}
