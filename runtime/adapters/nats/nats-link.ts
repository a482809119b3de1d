import { jetstream, jetstreamManager, type JetStreamClient, type JetStreamManager } from "@nats-io/jetstream";
import { connect, type Msg, type NatsConnection } from "@nats-io/transport-node";

import { PlatformError } from "../../api/platform-error.ts";
import { BrokerTrouble } from "./broker-trouble.ts";
import { RequestMux, type MuxRequest } from "./request-mux.ts";
import { compareVersions, oldestVersion } from "./server/nats-server-version.ts";

/** How one process reaches the broker, as one of its users. */
export interface NatsOptions {
  readonly url: string;
  /** Name shown in the broker's monitoring. */
  readonly name: string;
  readonly user: string | undefined;
  readonly password: string | undefined;
  /** PEM; whom the server's certificate must be signed by. With it the connection is encrypted. */
  readonly ca?: string | undefined;
  /** Prefix of this user's inboxes; nobody else may read them. */
  readonly inboxPrefix: string;
  /** Milliseconds between pings; two unanswered ones end the connection. */
  readonly pingInterval: number;
}

/** How long one request to the broker may take, milliseconds; callers try again within their own budget. */
export const requestTimeout = 500;

/** One connection that reconnects for ever, and knows since when it is away. */
export class NatsLink {
  readonly nc: NatsConnection;
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
  /** Whether the broker stores what is published. */
  readonly trouble = new BrokerTrouble();
  readonly #mux: RequestMux;
  #downSince: number | undefined;
  #reconnects = 0;
  readonly #onReconnect = new Set<() => void>();

  private constructor(nc: NatsConnection, js: JetStreamClient, jsm: JetStreamManager, mux: RequestMux) {
    this.nc = nc;
    this.js = js;
    this.jsm = jsm;
    this.#mux = mux;
    void this.#follow();
  }

  /**
   * Waits until the broker answers the first time.
   * @throws PlatformError `queue_unavailable` when it is older than what the queue needs
   */
  static async open(options: NatsOptions): Promise<NatsLink> {
    const nc = await connect({
      servers: options.url,
      name: options.name,
      ...(options.user === undefined ? {} : { user: options.user, pass: options.password ?? "" }),
      ...(options.ca === undefined ? {} : { tls: { ca: options.ca } }),
      inboxPrefix: options.inboxPrefix,
      maxReconnectAttempts: -1,
      reconnectTimeWait: 250,
      reconnectJitter: 100,
      waitOnFirstConnect: true,
      // A stack trace kept for every request costs more than the request.
      noAsyncTraces: true,
      ignoreAuthErrorAbort: true,
      pingInterval: options.pingInterval,
      maxPingOut: 2,
    });
    const version = nc.info?.version ?? "";
    if (compareVersions(version, oldestVersion) < 0) {
      await nc.close();
      throw new PlatformError(
        "queue_unavailable",
        `Cannot use the broker at "${nc.getServer()}": it is nats-server ${version}, and ${oldestVersion} or newer is needed`,
      );
    }
    const js = jetstream(nc, { timeout: requestTimeout });
    const jsm = await jetstreamManager(nc, { timeout: 2_000, checkAPI: false });
    return new NatsLink(nc, js, jsm, new RequestMux(nc, options.inboxPrefix));
  }

  /** One request and its reply; see `RequestMux`. */
  request(subject: string, payload: Uint8Array | string, options: MuxRequest): Promise<Msg> {
    return this.#mux.request(subject, payload, options);
  }

  /** Milliseconds since the connection was lost; 0 while it is there. */
  downFor(): number {
    if (this.nc.isClosed()) return Number.POSITIVE_INFINITY;
    return this.#downSince === undefined ? 0 : performance.now() - this.#downSince;
  }

  /** Version of the server this is connected to, or was last. */
  get serverVersion(): string {
    return this.nc.info?.version ?? "";
  }

  /** Times the connection came back. */
  get reconnects(): number {
    return this.#reconnects;
  }

  /** Calls `back` each time the connection came back. */
  onReconnect(back: () => void): () => void {
    this.#onReconnect.add(back);
    return () => this.#onReconnect.delete(back);
  }

  /** Sends what is under way, then closes. */
  async close(): Promise<void> {
    if (this.nc.isClosed()) return;
    if (this.#downSince === undefined) await this.nc.drain();
    else await this.nc.close();
  }

  async #follow(): Promise<void> {
    for await (const status of this.nc.status()) {
      switch (status.type) {
        case "disconnect":
        case "staleConnection":
          this.#downSince ??= performance.now();
          this.trouble.connected(false);
          break;
        case "reconnect":
          this.#downSince = undefined;
          this.#reconnects++;
          this.trouble.connected(true);
          for (const back of this.#onReconnect) back();
          break;
        default:
      }
    }
  }
}
