import type { BrokerHealth, BrokerIllness } from "../../../core/ports/broker-health.ts";

const answerTimeout = 2_000;
/** Words of the server for a store that takes nothing any more until the server is restarted. */
const writeError = /write error/i;

/** Asks the monitoring of each server. */
export class NatsHealth implements BrokerHealth {
  readonly #servers: readonly { readonly server: string; readonly url: string }[];
  readonly #hear: (illness: BrokerIllness | undefined) => void;

  /** Addresses of the servers' monitoring, without a path; `hear` hears what they answered, each time they are asked. */
  constructor(monitorUrls: readonly string[], hear: (illness: BrokerIllness | undefined) => void = () => {}) {
    this.#hear = hear;
    this.#servers = monitorUrls.map((url) => ({
      server: new URL(url).hostname,
      url: new URL("/healthz", url).href,
    }));
  }

  async trouble(): Promise<BrokerIllness | undefined> {
    const reasons = await Promise.all(this.#servers.map(({ url }) => writeErrorAt(url)));
    const found = this.#servers.flatMap(({ server }, at) => {
      const why = reasons[at];
      return why === undefined ? [] : [{ server, why }];
    });
    this.#hear(found[0]);
    return found[0];
  }
}

async function writeErrorAt(url: string): Promise<string | undefined> {
  try {
    const response = await fetch(url, {
      signal: AbortSignal.timeout(answerTimeout),
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
