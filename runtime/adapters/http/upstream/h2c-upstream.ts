import type { Upstream, UpstreamCall, UpstreamListener, UpstreamRequest } from "../../../core/ports/upstream.ts";
import { H2cExchange } from "./h2c-exchange.ts";
import { H2cSession } from "./h2c-session.ts";

/** `Upstream` for replicas that speak HTTP/2 without TLS: few connections per address, many streams on each. */
export class H2cUpstream implements Upstream {
  readonly #sessions = new Map<string, H2cSession[]>();
  readonly #connectTimeout: number;

  constructor(connectTimeout: number) {
    this.#connectTimeout = connectTimeout;
  }

  dispatch(address: string, request: UpstreamRequest, listener: UpstreamListener): UpstreamCall {
    return new H2cExchange(() => this.#session(address), address, request, listener);
  }

  release(address: string): void {
    for (const session of this.#sessions.get(address) ?? []) session.close();
    this.#sessions.delete(address);
  }

  async close(): Promise<void> {
    const all = [...this.#sessions.values()].flat();
    this.#sessions.clear();
    for (const session of all) session.destroy();
  }

  #session(address: string): H2cSession {
    const open = (this.#sessions.get(address) ?? []).filter((session) => session.usable);
    let session = open.find((one) => one.hasRoom);
    if (session === undefined) {
      session = new H2cSession(address, this.#connectTimeout);
      open.push(session);
    }
    this.#sessions.set(address, open);
    return session;
  }
}
