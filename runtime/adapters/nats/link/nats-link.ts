import { setTimeout as pause } from "node:timers/promises";

import { jetstream, jetstreamManager, type JetStreamClient, type JetStreamManager } from "@nats-io/jetstream";
import type { Msg, NatsConnection, ServerInfo, Subscription } from "@nats-io/transport-node";

import { brokerAddresses } from "../../../api/broker/broker-addresses.ts";
import { PlatformError } from "../../../api/platform-error.ts";
import { AnswerWatch } from "./answer-watch.ts";
import { BrokerState } from "./broker-state.ts";
import { dialBroker } from "./broker-transport.ts";
import { NatsHealth } from "./nats-health.ts";
import { RequestMux, type MuxRequest } from "./request-mux.ts";
import { compareVersions, oldestVersion } from "../server/nats-server-version.ts";

/** How one process reaches the broker, as one of its users. */
export interface NatsOptions {
  /** Addresses of the servers, separated by commas. */
  readonly url: string;
  /** Name shown in the broker's monitoring. */
  readonly name: string;
  readonly user: string | undefined;
  readonly password: string | undefined;
  /** PEM of the CA that must have signed the server's certificate. With it the connection is encrypted. */
  readonly ca?: string | undefined;
  /** Prefix of this user's inboxes; no other user may read them. */
  readonly inboxPrefix: string;
  /** Milliseconds between pings; two unanswered ones end the connection. At most 2 s where there is another server. */
  readonly pingInterval: number;
  /** Monitoring addresses of the servers, asked when publishes get no reply. */
  readonly monitorUrls?: readonly string[];
}

/** Timeout of one request to the broker, milliseconds; callers retry within their own budget. */
export const requestTimeout = 500;
/** The same for requests that nobody repeats: those of buckets, streams and consumers. A busy disk takes a second. */
const onceTimeout = 2_000;

/** What exists once the broker has replied. */
interface Connection {
  readonly nc: NatsConnection;
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
  readonly mux: RequestMux;
}

/** Milliseconds between two attempts to reach the broker, and the most jitter added to them. */
const reconnectWait = 250;
const reconnectJitter = 100;
/** Milliseconds in which a server takes what was sent before the connection to it is closed. */
const drainTimeout = 2_000;
/** The same for one that is about to end, while another one waits. */
const leaveTimeout = 500;
/** Milliseconds between pings where there is another server to go to. */
const longestPingInterval = 2_000;
/** Milliseconds without a connection after which requests are given up: alone, and where another server is dialled. */
const downTolerance = { alone: 1_000, several: 5_000 };

/** One connection that is retried without limit, and knows how long it has been down. */
export class NatsLink {
  /** Resolves when the broker first replies; rejects with `queue_unavailable` when the broker is too old to be used. */
  readonly opened: Promise<void>;
  /** Whether the broker stores what is published. */
  readonly state = new BrokerState(() => this.isCluster);
  #lastServer: ServerInfo | undefined;
  readonly #options: NatsOptions;
  readonly #end = new AbortController();
  #connection: Connection | undefined;
  #downSince: number | undefined;
  #reconnects = 0;
  readonly #onOpen = new Set<() => void>();
  readonly #onReconnect = new Set<() => void>();
  readonly #answers = new AnswerWatch(() => this.#change());
  #changing = false;

  private constructor(options: NatsOptions) {
    this.#options = options;
    const { monitorUrls = [] } = options;
    if (monitorUrls.length > 0) this.state.watch(new NatsHealth(monitorUrls));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.opened = promise;
    // Callers that do not await it learn of the same failure from `trouble`.
    promise.catch(() => {});
    this.state.onConnecting();
    void this.#connect(resolve, reject);
  }

  /** Starts connecting, without waiting for it. */
  static begin(options: NatsOptions): NatsLink {
    return new NatsLink(options);
  }

  /**
   * Waits until the broker first replies.
   * @throws PlatformError `queue_unavailable` when the broker is older than the queue needs
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

  /** Rejects as `opened` does when the broker is too old; never resolves. */
  get refused(): Promise<never> {
    return this.opened.then(() => new Promise<never>(() => {}));
  }

  /** The connection; throws before the first one was made. */
  get nc(): NatsConnection {
    return this.#connected.nc;
  }

  /** As `nc`. */
  get js(): JetStreamClient {
    return this.#connected.js;
  }

  /** As `nc`. */
  get jsm(): JetStreamManager {
    return this.#connected.jsm;
  }

  /** Whether it was closed for good. */
  get isClosed(): boolean {
    return this.#end.signal.aborted || this.#connection?.nc.isClosed() === true;
  }

  /** Publishes what may be lost: nothing is sent before the first connection is made or after the link is closed. */
  publish(subject: string, payload: string): void {
    if (this.#connection === undefined || this.isClosed || this.nc.isDraining()) return;
    this.nc.publish(subject, payload);
  }

  /** Subscribes now, or once the first connection is made; the returned function unsubscribes. */
  subscribe(subject: string, listener: (message: Msg) => void): () => void {
    let subscription: Subscription | undefined;
    const callback = (err: Error | null, message: Msg): void => {
      if (err === null) listener(message);
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
    return this.#connection?.mux.request(subject, payload, options) ?? Promise.reject(notConnectedYet());
  }

  /** Milliseconds since the connection was lost; 0 while connected, infinite when closed or never connected. */
  downFor(): number {
    if (this.#connection === undefined || this.isClosed) return Number.POSITIVE_INFINITY;
    return this.#downSince === undefined ? 0 : performance.now() - this.#downSince;
  }

  /** Whether it has been down for so long that requests are given up at once. */
  get isAway(): boolean {
    return this.downFor() > (this.#hasOthers ? downTolerance.several : downTolerance.alone);
  }

  /** Version of the server this is connected to, or was last connected to. */
  get serverVersion(): string {
    return this.#server?.version ?? "";
  }

  /** Whether that server is part of a cluster. */
  get isCluster(): boolean {
    return this.#server?.cluster !== undefined;
  }

  /** What the server says of itself. The client forgets it while it dials, when it matters most who else there is. */
  get #server(): ServerInfo | undefined {
    this.#lastServer = this.#connection?.nc.info ?? this.#lastServer;
    return this.#lastServer;
  }

  /** How many times the connection came back. */
  get reconnects(): number {
    return this.#reconnects;
  }

  /** Calls `listener` each time the connection comes back, until the returned function is called. */
  onReconnect(listener: () => void): () => void {
    this.#onReconnect.add(listener);
    return () => this.#onReconnect.delete(listener);
  }

  /** Sends what is in flight, then closes. */
  async close(): Promise<void> {
    if (this.isClosed) return;
    const nc = this.#connection?.nc;
    // A server that hangs takes nothing.
    if (this.downFor() === 0)
      await Promise.race([nc?.drain().catch(() => {}), pause(drainTimeout, undefined, { ref: false })]);
    this.#end.abort();
    await nc?.close();
  }

  /** Whether there may be another server to go to: an address may stand for several. */
  get #hasOthers(): boolean {
    return this.isCluster || brokerAddresses(this.#options.url).length > 1;
  }

  /** Goes to another server, if there may be one. What this one has not read in time is sent again by its sender. */
  #change(): void {
    const nc = this.#connection?.nc;
    if (nc === undefined || !this.#hasOthers || this.#changing || this.downFor() > 0) return;
    this.#changing = true;
    void Promise.race([nc.flush().catch(() => {}), pause(leaveTimeout, undefined, { ref: false })])
      .then(() => (this.downFor() > 0 ? undefined : nc.reconnect()))
      .finally(() => {
        this.#changing = false;
      });
  }

  get #connected(): Connection {
    if (this.#connection === undefined) throw notConnectedYet();
    return this.#connection;
  }

  /** Retries until there is a connection, or the link is closed. */
  async #connect(opened: () => void, refused: (err: PlatformError) => void): Promise<void> {
    const { signal } = this.#end;
    while (!signal.aborted) {
      try {
        const nc = await dial(this.#options);
        if (signal.aborted) return await nc.close();
        await this.#adopt(nc);
        return opened();
      } catch (err) {
        if (err instanceof PlatformError) refused(err);
        this.state.onConnection(false, err);
        const wait = reconnectWait + Math.random() * reconnectJitter;
        await pause(wait, undefined, { signal }).catch(() => {});
      }
    }
  }

  async #adopt(nc: NatsConnection): Promise<void> {
    watchRequests(nc, this.#answers);
    const js = jetstream(nc, { timeout: onceTimeout });
    const jsm = await jetstreamManager(nc, { timeout: onceTimeout, checkAPI: false });
    this.#connection = { nc, js, jsm, mux: new RequestMux(nc, this.#options.inboxPrefix, this.#answers) };
    void this.#follow(nc);
    for (const subscribe of this.#onOpen) subscribe();
    this.#onOpen.clear();
    this.state.onConnection(true);
  }

  async #follow(nc: NatsConnection): Promise<void> {
    for await (const status of nc.status()) {
      switch (status.type) {
        case "disconnect":
        case "staleConnection":
          this.#downSince ??= performance.now();
          this.state.onConnection(false);
          break;
        case "reconnect":
          this.#downSince = undefined;
          this.#reconnects++;
          this.#answers.restart();
          this.state.onConnection(true);
          for (const listener of this.#onReconnect) listener();
          break;
        case "ldm":
          this.#change();
          break;
        default:
      }
    }
  }
}

/** The client's own requests, with which streams and consumers are managed, tell of the server, too. */
function watchRequests(nc: NatsConnection, answers: AnswerWatch): void {
  const request = nc.request.bind(nc);
  nc.request = async (subject, payload, options) => {
    answers.asked();
    try {
      const reply = await request(subject, payload, options);
      answers.ended(subject, reply);
      return reply;
    } catch (err) {
      answers.ended(subject, undefined);
      throw err;
    }
  };
}

function notConnectedYet(): Error {
  return new Error("the broker has not replied yet");
}

/** One attempt; rejects with a `PlatformError` when the server is too old. */
async function dial(options: NatsOptions): Promise<NatsConnection> {
  const nc = await dialBroker({
    url: options.url,
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
    pingInterval:
      brokerAddresses(options.url).length > 1
        ? Math.min(options.pingInterval, longestPingInterval)
        : options.pingInterval,
    maxPingOut: 2,
  });
  const version = nc.info?.version ?? "";
  if (compareVersions(version, oldestVersion) >= 0) return nc;
  const address = nc.getServer();
  await nc.close();
  throw new PlatformError(
    "queue_unavailable",
    `Cannot use the broker at "${address}": it is nats-server ${version}, and ${oldestVersion} or newer is needed`,
  );
}
