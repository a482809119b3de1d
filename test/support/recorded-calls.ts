import { NatsLink } from "../../runtime/adapters/nats/link/nats-link.ts";
import { NatsQueueStore } from "../../runtime/adapters/nats/queues/nats-queue-store.ts";
import { NatsCallLedger } from "../../runtime/adapters/nats/records/nats-call-ledger.ts";
import { natsUser } from "../../runtime/api/broker/nats-users.ts";
import type { CallLedger } from "../../runtime/core/ports/call-ledger.ts";
import { sampleQueue } from "../contract/samples.ts";
import { deleteStream } from "./delete-stream.ts";
import { eventually } from "./eventually.ts";
import { historyProcess, type TestHistory } from "./history-process.ts";
import { openNatsServer, type TestNatsServer } from "./nats-server.ts";
import { tempDirectory, type TempDirectory } from "./temp-directory.ts";
import { untilRecorded } from "./until-recorded.ts";
import { writtenRecords, type WrittenRecords } from "./written-records.ts";

const facts = {
  maxFileStore: 1_073_741_824,
  payloadLimit: 1_048_576,
  maxCallRecords: 100_000,
  replicas: 1,
  oneMachine: true,
};
const hour = 3_600_000;

/** A broker whose call records a test writes, and real history processes beside it. */
export class RecordedCalls {
  readonly server: TestNatsServer;
  readonly ledger: CallLedger;
  /** Milliseconds for which a record is kept that is written now. */
  ttl = hour;
  readonly #doctor: NatsLink;
  readonly #gateway: NatsLink;
  #directory: TempDirectory | undefined;
  #histories: TestHistory[] = [];
  #records: WrittenRecords;
  #isProvisioned = false;

  private constructor(server: TestNatsServer, doctor: NatsLink, gateway: NatsLink) {
    this.server = server;
    this.#doctor = doctor;
    this.#gateway = gateway;
    this.ledger = new NatsCallLedger(gateway, () => this.ttl, { accepts: true });
    this.#records = writtenRecords(this.ledger);
  }

  static async open(): Promise<RecordedCalls> {
    const server = await openNatsServer({ users: true });
    const connect = (name: string) => NatsLink.open({ name, pingInterval: 1_000, ...server.access(name) });
    try {
      return new RecordedCalls(server, await connect(natsUser.doctor), await connect(natsUser.gateway));
    } catch (err) {
      await server.close();
      throw err;
    }
  }

  /** The calls since `begin`. */
  get records(): WrittenRecords {
    return this.#records;
  }

  /** Of the histories' files. */
  get directory(): string {
    if (this.#directory === undefined) throw new Error("no test has begun");
    return this.#directory.path;
  }

  /** For before a test: there is no record and no history. */
  async begin(): Promise<void> {
    this.ttl = hour;
    this.#records = writtenRecords(this.ledger);
    this.#directory = await tempDirectory("history");
    // A test before may have restarted the broker.
    const links = [this.#doctor, this.#gateway];
    await eventually(() => links.every((link) => link.downFor() === 0), { what: "the broker to be there" });
    await this.createAnew();
  }

  /** For after a test: no history is left. Resolves with how those ended that a test did not end, a sentence each. */
  async end(): Promise<readonly string[]> {
    const histories = this.#histories;
    this.#histories = [];
    for (const { process, reads } of histories) {
      await process.kill();
      await reads.close();
    }
    await this.#directory?.remove();
    this.#directory = undefined;
    return histories.flatMap(({ process }) => process.mishaps);
  }

  async close(): Promise<void> {
    await this.end();
    await Promise.all([this.#doctor.close(), this.#gateway.close()]);
    await this.server.close();
  }

  /** Creates the stream of the records anew. */
  async createAnew(): Promise<void> {
    if (this.#isProvisioned) await deleteStream(this.#doctor, this.server, "KV_calls");
    this.#isProvisioned = true;
    await new NatsQueueStore(this.#doctor, facts).provision([sampleQueue()], []);
  }

  /** Starts a history; `monitored` is whether it is told where the broker reports since when it runs. */
  async start({ monitored = true }: { readonly monitored?: boolean } = {}): Promise<TestHistory> {
    const history = await historyProcess({ directory: this.directory, server: this.server, monitored });
    this.#histories.push(history);
    await history.process.start();
    return history;
  }

  /** Waits until a history has what the records say, call by call. */
  async untilEqual({ reads }: TestHistory): Promise<void> {
    const kept = await untilRecorded(reads, this.ledger, this.records);
    const { total } = await reads.list({ filter: {}, limit: 1 });
    if (total.value !== kept) throw new Error(`the history has ${total.value} calls, of ${kept}`);
  }
}

export async function untilLed(history: TestHistory): Promise<void> {
  await eventually(async () => (await history.metric("history_leader")) === 1, {
    what: "the history to be the leader",
  });
}
