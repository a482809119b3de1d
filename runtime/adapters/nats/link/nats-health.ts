import type { BrokerHealth, BrokerFault } from "../../../core/ports/broker-health.ts";

const replyTimeout = 2_000;
/** How a server reports a store that accepts nothing until the server is restarted. */
const writeError = /write error/i;
const noSpace = /no space left on device|disk quota exceeded/i;

/** The broker's health, as the monitoring of its servers reports it. */
export class NatsHealth implements BrokerHealth {
  readonly #servers: readonly { readonly server: string; readonly url: string }[];
  readonly #listener: (fault: BrokerFault | undefined) => void;

  /** `monitorUrls` are the servers' monitoring addresses, without a path; `listener` gets the result of each check. */
  constructor(monitorUrls: readonly string[], listener: (fault: BrokerFault | undefined) => void = () => {}) {
    this.#listener = listener;
    this.#servers = monitorUrls.map((url) => ({
      server: new URL(url).hostname,
      url: new URL("/healthz", url).href,
    }));
  }

  async fault(): Promise<BrokerFault | undefined> {
    const [found] = await this.#faults();
    this.#listener(found);
    return found;
  }

  /** As `fault`, but only if so many servers cannot store that nothing is stored; nobody else is told. */
  async wholeFault(): Promise<BrokerFault | undefined> {
    const found = await this.#faults();
    const able = this.#servers.length - found.length;
    return able > this.#servers.length / 2 ? undefined : found[0];
  }

  async #faults(): Promise<readonly BrokerFault[]> {
    const reasons = await Promise.all(this.#servers.map(({ url }) => writeErrorAt(url)));
    return this.#servers.flatMap(({ server }, at) => {
      const why = reasons[at];
      return why === undefined ? [] : [{ kind: isFullDisk(why) ? "full" : "io-error", server, why }];
    });
  }
}

/** Whether a server's error message says that the disk has no room: of the system, or within a quota. */
export function isFullDisk(text: string): boolean {
  return noSpace.test(text);
}

async function writeErrorAt(url: string): Promise<string | undefined> {
  try {
    const response = await fetch(url, {
      signal: AbortSignal.timeout(replyTimeout),
      headers: { connection: "close" },
    });
    const text = await response.text();
    return response.status === 503 && writeError.test(text) ? errorOf(text) : undefined;
  } catch {
    return undefined;
  }
}

function errorOf(text: string): string {
  try {
    const { error }: { readonly error?: unknown } = JSON.parse(text);
    return typeof error === "string" ? error : text;
  } catch {
    return text;
  }
}
