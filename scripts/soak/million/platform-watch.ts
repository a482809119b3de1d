import type { PlatformProcess } from "../../../test/support/platform-process.ts";
import type { Platform } from "../../../test/support/platform.ts";
import { residentBytes } from "../../../test/support/process-facts.ts";

/** Samples the memory of processes and the number of records. */
export class PlatformWatch {
  readonly #platform: Platform;
  readonly #others: readonly PlatformProcess[];
  /** Bytes, by the name of the process. */
  readonly mostMemory: Record<string, number> = {};
  /** Largest number of records, as a share of the limit. */
  mostRecords = 0;

  /** `others` are watched, too. */
  constructor(platform: Platform, others: readonly PlatformProcess[]) {
    this.#platform = platform;
    this.#others = others;
  }

  look(): void {
    const { server, broker, doctor, gateway, workers: all } = this.#platform;
    this.mostRecords = Math.max(this.mostRecords, broker.ledger.fill());
    const pids = [doctor, gateway, ...all, ...this.#others].flatMap(({ name, pid, running }) =>
      running ? [{ name, pid }] : [],
    );
    if (server.pid !== undefined) pids.push({ name: "broker", pid: server.pid });
    for (const { name, pid } of pids) {
      try {
        this.mostMemory[name] = Math.max(this.mostMemory[name] ?? 0, residentBytes(pid));
      } catch {
        // It was killed in this moment.
      }
    }
  }
}
