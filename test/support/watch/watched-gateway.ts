import { setTimeout as pause } from "node:timers/promises";

import type { WatchEventName, WatchEvents } from "../../../runtime/api/schemas/watch-events.ts";
import { administrator, type Principal } from "../../../runtime/core/access/principal.ts";
import { parseWatchTopics } from "../../../runtime/core/watch/watch-topic.ts";
import type { AppParts } from "../../../runtime/gateway/rest/app-parts.ts";
import { StreamSender } from "../../../runtime/gateway/watch/stream-sender.ts";
import { WatchHub } from "../../../runtime/gateway/watch/watch-hub.ts";
import { WorkerSums } from "../../../runtime/core/queues/worker-sums.ts";
import { buildPlatformDoctor } from "../../../runtime/gateway/doctor/platform-doctor.ts";
import { MemoryActivity } from "../memory/memory-activity.ts";
import { memoryDoctorParts } from "../memory-doctor.ts";
import { HistoryGateway } from "../history-gateway.ts";
import { ManualWatchClock } from "./manual-watch-clock.ts";
import { MemorySink, type SentEvent } from "./memory-sink.ts";

/** One reader of a stream. */
export class WatchedStream {
  readonly sink = new MemorySink();
  /** Who reads it, from the next look on. */
  next: Principal | Error;

  constructor(hub: WatchHub, on: string, principal: Principal) {
    this.next = principal;
    const renew = async (): Promise<Principal> => {
      if (this.next instanceof Error) throw this.next;
      return this.next;
    };
    hub.open(this.sink, parseWatchTopics(on), new StreamSender({ principal, renew, now: () => hub.now() }));
  }

  /** Events since the last look. */
  take(): SentEvent[] {
    return this.sink.take();
  }

  takeOf<Name extends WatchEventName>(name: Name): WatchEvents[Name][] {
    return this.sink.takeOf(name);
  }
}

/** The streams of a gateway whose parts are in memory, at a time that a test moves. */
export class WatchedGateway implements AsyncDisposable {
  readonly clock = new ManualWatchClock();
  readonly gateway: HistoryGateway;
  readonly hub: WatchHub;
  readonly #streams = new Set<WatchedStream>();

  private constructor(gateway: HistoryGateway, over: Partial<AppParts>) {
    this.gateway = gateway;
    const { parts } = gateway.platform;
    // Of a process that is older than its first round of reports.
    let age = 0;
    const workers = new WorkerSums(new MemoryActivity(), () => age);
    age = 60_000;
    const queueParts = { ...parts.queueParts, workers };
    const doctor = buildPlatformDoctor(memoryDoctorParts({ queues: queueParts }));
    this.hub = new WatchHub({ ...parts, queueParts, doctor, ...over }, this.clock);
  }

  /** `over` deviates from the parts of the gateway. */
  static async open(over: (gateway: HistoryGateway) => Partial<AppParts> = () => ({})): Promise<WatchedGateway> {
    const gateway = await HistoryGateway.open();
    return new WatchedGateway(gateway, over(gateway));
  }

  /** Opens a stream, by default of the administrator, whose topics have begun. */
  async watch(on: string, principal: Principal = administrator("basic")): Promise<WatchedStream> {
    const stream = new WatchedStream(this.hub, on, principal);
    this.#streams.add(stream);
    await this.settled();
    return stream;
  }

  /** Moves on by a quarter of a second at a time, and lets what begins then come to its end: it takes no time. */
  async pass(seconds: number): Promise<void> {
    for (let quarter = 0; quarter < 4 * seconds; quarter += 1) {
      this.clock.advance(250);
      await this.settled();
    }
  }

  /** Resolves when what was begun has no more to do: everything is in memory, and a later timer ends later. */
  async settled(): Promise<void> {
    await pause(2);
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { sink } of this.#streams) sink.close();
    this.hub.close();
    await this.gateway[Symbol.asyncDispose]();
  }
}
