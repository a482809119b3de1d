import { setTimeout as pause } from "node:timers/promises";

import { jetstream, jetstreamManager, type JetStreamClient, type JetStreamManager } from "@nats-io/jetstream";
import { connect, type Msg, type NatsConnection, type Subscription } from "@nats-io/transport-node";

import { PlatformError } from "../../../api/platform-error.ts";
import { BrokerTrouble } from "./broker-trouble.ts";
import { RequestMux, type MuxRequest } from "./request-mux.ts";
import { compareVersions, oldestVersion } from "../server/nats-server-version.ts";

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

/** What is there once the broker has answered. */
interface Connection {
  readonly nc: NatsConnection;
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
  readonly mux: RequestMux;
}

/** Milliseconds between two attempts to reach the broker, and by how much they differ. */
const reconnectWait = 250;
const reconnectJitter = 100;

/** One connection that is tried for ever, and knows since when it is away. */
export class NatsLink {
  /** Resolves when the broker answered the first time; rejects with `queue_unavailable` when that one is too old to be used. */
  readonly opened: Promise<void>;
  /** Whether the broker stores what is published. */
  readonly trouble = new BrokerTrouble();
  readonly #options: NatsOptions;
  readonly #end = new AbortController();
  #connection: Connection | undefined;
  #downSince: number | undefined;
  #reconnects = 0;
  readonly #onOpen = new Set<() => void>();
  readonly #onReconnect = new Set<() => void>();

  private constructor(options: NatsOptions) {
    this.#options = options;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.opened = promise;
    // Who does not wait for it reads the same from `trouble`.
    promise.catch(() => {});
    this.trouble.begin();
    void this.#reach(resolve, reject);
  }

  /** Begins to reach the broker, without waiting for it. */
  static begin(options: NatsOptions): NatsLink {
    return new NatsLink(options);
  }

  /**
   * Waits until the broker answers the first time.
   * @throws PlatformError `queue_unavailable` when it is older than what the queue needs
   */
  static async open(options: NatsOptions): Promise<NatsLink> {
    const link = NatsLink.begin(options);
    try {
      await link.opened;
    } catch (err) {
      await link.close();
      throw err;
    }
    return link;
  }

  /** Rejects like `opened` when the broker is too old, and resolves never. */
  get refused(): Promise<never> {
    return this.opened.then(() => new Promise<never>(() => {}));
  }

  /** The connection; throws as long as there was none. */
  get nc(): NatsConnection {
    return this.#there.nc;
  }

  /** As `nc`. */
  get js(): JetStreamClient {
    return this.#there.js;
  }

  /** As `nc`. */
  get jsm(): JetStreamManager {
    return this.#there.jsm;
  }

  /** Whether it was closed for good. */
  get isClosed(): boolean {
    return this.#end.signal.aborted || this.#connection?.nc.isClosed() === true;
  }

  /** Publishes what may be lost: nothing is sent before the first connection, nor after the last. */
  publish(subject: string, payload: string): void {
    if (this.#connection === undefined || this.isClosed || this.nc.isDraining()) return;
    this.nc.publish(subject, payload);
  }

  /** Hears what is published from now on, or from the first connection on; the function it gives ends that. */
  subscribe(subject: string, heard: (message: Msg) => void): () => void {
    let subscription: Subscription | undefined;
    const callback = (err: Error | null, message: Msg): void => {
      if (err === null) heard(message);
    };
    const subscribe = (): void => {
      subscription = this.nc.subscribe(subject, { callback });
    };
    if (this.#connection === undefined) this.#onOpen.add(subscribe);
    else subscribe();
    return () => {
      this.#onOpen.delete(subscribe);
      subscription?.unsubscribe();
    };
  }

  /** One request and its reply; see `RequestMux`. */
  request(subject: string, payload: Uint8Array | string, options: MuxRequest): Promise<Msg> {
    return this.#connection?.mux.request(subject, payload, options) ?? Promise.reject(neverThere());
  }

  /** Milliseconds since the connection was lost; 0 while it is there, infinite when it is closed or never was there. */
  downFor(): number {
    if (this.#connection === undefined || this.isClosed) return Number.POSITIVE_INFINITY;
    return this.#downSince === undefined ? 0 : performance.now() - this.#downSince;
  }

  /** Version of the server this is connected to, or was last. */
  get serverVersion(): string {
    return this.#connection?.nc.info?.version ?? "";
  }

  /** Whether it is one of several servers that store together. */
  get isCluster(): boolean {
    return this.#connection?.nc.info?.cluster !== undefined;
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
    if (this.isClosed) return;
    const nc = this.#connection?.nc;
    if (this.downFor() === 0) await nc?.drain();
    this.#end.abort();
    await nc?.close();
  }

  get #there(): Connection {
    if (this.#connection === undefined) throw neverThere();
    return this.#connection;
  }

  /** Tries until there is a connection, or the link is closed. */
  async #reach(opened: () => void, refused: (why: PlatformError) => void): Promise<void> {
    const { signal } = this.#end;
    while (!signal.aborted) {
      try {
        const nc = await dial(this.#options);
        if (signal.aborted) return await nc.close();
        await this.#begin(nc);
        return opened();
      } catch (err) {
        if (err instanceof PlatformError) refused(err);
        this.trouble.connected(false, err);
        const wait = reconnectWait + Math.random() * reconnectJitter;
        await pause(wait, undefined, { signal }).catch(() => {});
      }
    }
  }

  async #begin(nc: NatsConnection): Promise<void> {
    const js = jetstream(nc, { timeout: requestTimeout });
    const jsm = await jetstreamManager(nc, { timeout: 2_000, checkAPI: false });
    this.#connection = { nc, js, jsm, mux: new RequestMux(nc, this.#options.inboxPrefix) };
    void this.#follow(nc);
    for (const subscribe of this.#onOpen) subscribe();
    this.#onOpen.clear();
    this.trouble.connected(true);
  }

  async #follow(nc: NatsConnection): Promise<void> {
    for await (const status of nc.status()) {
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

function neverThere(): Error {
  return new Error("the broker did not answer yet");
}

/** One attempt; rejects with a `PlatformError` when who answers is too old. */
async function dial(options: NatsOptions): Promise<NatsConnection> {
  const nc = await connect({
    servers: options.url,
    name: options.name,
    ...(options.user === undefined ? {} : { user: options.user, pass: options.password ?? "" }),
    ...(options.ca === undefined ? {} : { tls: { ca: options.ca } }),
    inboxPrefix: options.inboxPrefix,
    maxReconnectAttempts: -1,
    reconnectTimeWait: reconnectWait,
    reconnectJitter,
    // A stack trace kept for every request costs more than the request.
    noAsyncTraces: true,
    ignoreAuthErrorAbort: true,
    pingInterval: options.pingInterval,
    maxPingOut: 2,
  });
  const version = nc.info?.version ?? "";
  if (compareVersions(version, oldestVersion) >= 0) return nc;
  const place = nc.getServer();
  await nc.close();
  throw new PlatformError(
    "queue_unavailable",
    `Cannot use the broker at "${place}": it is nats-server ${version}, and ${oldestVersion} or newer is needed`,
  );
}
