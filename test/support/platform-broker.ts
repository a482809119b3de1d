import { madeUnder } from "../../runtime/adapters/nats/queues/consumers.ts";
import { NatsCallLedger } from "../../runtime/adapters/nats/records/nats-call-ledger.ts";
import { NatsEndpoints } from "../../runtime/adapters/nats/stores/nats-endpoints.ts";
import { NatsFunctionStore } from "../../runtime/adapters/nats/stores/nats-function-store.ts";
import { NatsLink } from "../../runtime/adapters/nats/link/nats-link.ts";
import { readLast, type LastMessage } from "../../runtime/adapters/nats/link/read-last.ts";
import { natsUser } from "../../runtime/api/broker/nats-users.ts";
import {
  bucket,
  bucketStream,
  callbacksConsumer,
  callbackStream,
  deadLetterStream,
  deadLetterSubject,
  keySubject,
  queueStream,
  workersConsumer,
} from "../../runtime/adapters/nats/stream-names.ts";
import type { CallLedger } from "../../runtime/core/ports/call-ledger.ts";
import type { EndpointsPublisher } from "../../runtime/core/ports/endpoints.ts";
import type { FunctionStore } from "../../runtime/core/ports/function-store.ts";
import { deleteStream } from "./delete-stream.ts";
import { eventually } from "./eventually.ts";
import type { TestNatsServer } from "./nats-server.ts";

/** Lifetime of records that a test writes itself, milliseconds. */
const recordLife = 3_600_000;

/** A work queue in the broker: all entries, those not yet delivered, those delivered but not acknowledged. */
export interface WorkState {
  readonly messages: number;
  readonly pending: number;
  readonly unanswered: number;
  /** Deliveries in all. */
  readonly offered: number;
}

/** A test's direct access to the broker, past the processes of the platform. */
export interface BrokerView {
  /** Publishes as the provider. */
  readonly endpoints: EndpointsPublisher;
  /** As the provider sees them. */
  readonly functions: Pick<FunctionStore, "get" | "watch">;
  readonly ledger: CallLedger;
  calls(queue?: string): Promise<WorkState>;
  callbacks(): Promise<WorkState>;
  /** Undefined if there is none. */
  deadLetter(id: string, kind?: "call" | "callback", queue?: string): Promise<LastMessage | undefined>;
  /** Dead letters in all. */
  deadLetters(): Promise<number>;
  /** TTL of the last write of a call's record, seconds; undefined if there is no record. */
  recordTtl(id: string): Promise<number | undefined>;
  /** Makes the consumer of the default queue look as if another server had created it. */
  makeForeign(): Promise<void>;
  /** Removes all records, as if they had expired. */
  forgetRecords(): Promise<void>;
  /** Limits the queued callbacks of each function; the queue-doctor reverts that. */
  boundCallbacks(perFunction: number): Promise<void>;
  /** Makes all writes of records fail, existing records included, until the returned function is called. */
  freezeRecords(): Promise<() => Promise<void>>;
  /** Removes all queued callbacks. */
  dropCallbacks(): Promise<void>;
  /** Deletes the stream of the default queue. */
  deleteQueue(): Promise<void>;
  /** Deletes the stream of all records; a queue-doctor that starts creates it anew. */
  deleteRecords(): Promise<void>;
  close(): Promise<void>;
}

const defaultQueue = "default";

/** Tries again what the broker does not acknowledge in half a second, as the provider does. */
function repeated(endpoints: EndpointsPublisher): EndpointsPublisher {
  const done = async (what: string, write: () => Promise<void>): Promise<void> => {
    await eventually(() => write().then(() => true), { what });
  };
  return {
    publish: (each) => done(`${each.name} to be published`, () => endpoints.publish(each)),
    remove: (ref) => done(`${ref.name} to be removed`, () => endpoints.remove(ref)),
    list: () => endpoints.list(),
  };
}

/** Opens it; the streams must exist. With `users` it connects as the provider and as the queue-doctor. */
export async function openBrokerView(server: TestNatsServer, users: boolean): Promise<BrokerView> {
  const links: NatsLink[] = [];
  const open = async (user: string): Promise<NatsLink> => {
    const access = users
      ? server.access(user)
      : { url: server.url, user: undefined, password: undefined, inboxPrefix: "_INBOX.test" };
    const link = await NatsLink.open({ ...access, name: "test", pingInterval: 1_000 });
    links.push(link);
    return link;
  };
  const provider = await open(natsUser.provider);
  const doctor = await open(natsUser.doctor);
  const work = async (stream: string, consumer: string): Promise<WorkState> => {
    const { state } = await doctor.jsm.streams.info(stream);
    const info = await doctor.jsm.consumers.info(stream, consumer);
    return {
      messages: state.messages,
      pending: info.num_pending,
      unanswered: info.num_ack_pending,
      offered: info.delivered.consumer_seq,
    };
  };
  return {
    endpoints: repeated(new NatsEndpoints(provider)),
    functions: new NatsFunctionStore(provider),
    ledger: new NatsCallLedger(doctor, () => recordLife, { accepts: true }),
    calls: (queue = defaultQueue) => work(queueStream(queue), workersConsumer),
    callbacks: () => work(callbackStream, callbacksConsumer),
    deadLetter: (id, kind = "call", queue = defaultQueue) =>
      readLast(doctor, deadLetterStream, deadLetterSubject(queue, id, kind)),
    deadLetters: async () => (await doctor.jsm.streams.info(deadLetterStream)).state.messages,
    recordTtl: async (id) => {
      const last = await readLast(doctor, bucketStream(bucket.calls), keySubject(bucket.calls, id));
      return last === undefined ? undefined : Number(last.headers.get("Nats-TTL")?.replace(/s$/, ""));
    },
    makeForeign: async () => {
      const stream = queueStream(defaultQueue);
      await doctor.jsm.consumers.update(stream, workersConsumer, { metadata: { [madeUnder]: "0.0.0" } });
    },
    forgetRecords: async () => {
      await doctor.jsm.streams.purge(bucketStream(bucket.calls));
    },
    boundCallbacks: async (perFunction) => {
      await doctor.jsm.streams.update(callbackStream, { max_msgs_per_subject: perFunction });
    },
    freezeRecords: async () => {
      const stream = bucketStream(bucket.calls);
      // A bucket at its byte limit refuses every write, because it removes the old record only afterwards.
      await doctor.jsm.streams.update(stream, { max_bytes: 1 });
      return async () => void (await doctor.jsm.streams.update(stream, { max_bytes: -1 }));
    },
    dropCallbacks: async () => {
      await doctor.jsm.streams.purge(callbackStream);
    },
    deleteQueue: async () => {
      await deleteStream(doctor, server, queueStream(defaultQueue));
    },
    deleteRecords: async () => {
      await deleteStream(doctor, server, bucketStream(bucket.calls));
    },
    close: async () => {
      for (const link of links) await link.close();
    },
  };
}
