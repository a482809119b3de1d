import type { BrokerFaultKind } from "../../../api/broker/broker-fault.ts";
import { PlatformError } from "../../../api/platform-error.ts";
import type { BrokerStore, BrokerView } from "../../../core/ports/broker-view.ts";
import type { NatsLink } from "../link/nats-link.ts";
import { compareVersions, oldestVersion } from "../server/nats-server-version.ts";
import { readStoreFigures } from "./store-figures.ts";

/** The broker behind one connection of a gateway. */
export class NatsBrokerView implements BrokerView {
  readonly #link: NatsLink;

  constructor(link: NatsLink) {
    this.#link = link;
  }

  get fault(): BrokerFaultKind | undefined {
    return this.#link.state.kind;
  }

  get version(): string | undefined {
    return this.#link.serverVersion === "" ? undefined : this.#link.serverVersion;
  }

  get isTooOld(): boolean {
    const { version } = this;
    return version !== undefined && compareVersions(version, oldestVersion) < 0;
  }

  async store(): Promise<BrokerStore> {
    const figures = await readStoreFigures(this.#link, true).catch((cause: unknown) => {
      throw unreadable("it did not report it", cause);
    });
    if (figures.copies.wanted === 0) throw unreadable("the bucket of call records is missing");
    return {
      whole: { used: figures.stored, limit: figures.store },
      records: { used: figures.records, limit: figures.maxRecords },
      recordBytes: { used: figures.recordBytes, limit: figures.recordShare },
      copies: figures.copies,
    };
  }
}

function unreadable(why: string, cause?: unknown): PlatformError {
  return new PlatformError("queue_unavailable", `Cannot read the broker's store: ${why}`, { cause });
}
