import type { BrokerFaultKind } from "../../../api/broker/broker-fault.ts";
import type { BrokerFault } from "../../../core/ports/broker-health.ts";
import { isFullDisk, type NatsHealth } from "./nats-health.ts";
import type { PublishOutcome } from "./publish-outcome.ts";

/** Called when a fault begins, with its cause, and when it ends (`kind` is undefined). */
export type BrokerStateListener = (kind: BrokerFaultKind | undefined, cause?: unknown) => void;

/** Milliseconds after which a fault that no further publish confirms is cleared: there may be no more publishes. */
const clearAfter = 5_000;
/** Milliseconds between two looks at the monitoring. */
const lookEvery = 1_000;

/** NATS error codes (server `errors.json`). */
const noRoom = new Set([10_023, 10_047]);
const storeFailed = 10_077;
const notReady = 10_008;

type Monitoring = Pick<NatsHealth, "wholeFault">;

/** What the monitoring reports: to whoever checks all servers, and to this process when publishes got no reply. */
interface Reported {
  readonly told?: BrokerFault | undefined;
  readonly seen?: BrokerFault | undefined;
}

/**
 * Whether the broker stores what this process publishes. The connection and every publish report here: the first
 * failure begins a fault, a stored publish ends it. A broker whose disk is full may not reply to publishes at all, so
 * where its monitoring is available, that takes precedence: it is asked as soon as a publish gets no reply, and then
 * until it reports no fault.
 */
export class BrokerState {
  readonly #listeners = new Set<BrokerStateListener>();
  readonly #isCluster: () => boolean;
  #health: Monitoring | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #nextLook: NodeJS.Timeout | undefined;
  #kind: BrokerFaultKind | undefined;
  #connected = true;
  #reported: Reported = {};
  #timer: NodeJS.Timeout | undefined;

  constructor(isCluster: () => boolean = () => false) {
    this.#isCluster = isCluster;
  }

  /** Whether the monitoring says that nothing is stored, whatever is published. */
  get storesNothing(): boolean {
    return this.#reported.seen !== undefined;
  }

  /** Asks the monitoring from now on. */
  watch(health: Monitoring): void {
    this.#health = health;
  }

  /** A publish got no reply in time, and is about to be repeated. */
  onUnanswered(): void {
    const now = performance.now();
    if (this.#health === undefined || now - this.#lookedAt < lookEvery) return;
    this.#lookedAt = now;
    void this.#look(this.#health);
  }

  async #look(health: Monitoring): Promise<void> {
    clearTimeout(this.#nextLook);
    const fault = await health.wholeFault();
    // A server that is being restarted says nothing: what it said before counts until it is back.
    if (this.#connected) this.#report({ ...this.#reported, seen: fault });
    if (this.#reported.seen !== undefined)
      this.#nextLook = setTimeout(() => void this.#look(health), lookEvery).unref();
  }

  get kind(): BrokerFaultKind | undefined {
    return this.#kind;
  }

  onChange(listener: BrokerStateListener): void {
    this.#listeners.add(listener);
  }

  /** There is no connection yet, which is a fault only once the first attempt fails. */
  onConnecting(): void {
    this.#connected = false;
  }

  /** The connection was lost or cannot be made, with the cause, or is back. */
  onConnection(is: boolean, cause: unknown = new Error("the connection was lost")): void {
    this.#connected = is;
    if (is) {
      // A server that is back was restarted; otherwise its monitoring reports the fault again.
      this.#reported = {};
      this.#change(undefined);
    } else if (!this.#reportsFault) this.#change("away", cause);
  }

  /** Takes in what the broker's monitoring reports: why it cannot store, or undefined when it can. */
  onHealth(fault: BrokerFault | undefined): void {
    this.#report({ ...this.#reported, told: fault });
  }

  get #reportsFault(): boolean {
    return (this.#reported.seen ?? this.#reported.told) !== undefined;
  }

  #report(reported: Reported): void {
    const was = this.#reportsFault;
    this.#reported = reported;
    const fault = reported.seen ?? reported.told;
    if (fault !== undefined) this.#change(fault.kind, fault);
    else if (was) this.#change(undefined);
  }

  /** Takes in the outcome of a publish. */
  onPublished(outcome: PublishOutcome): void {
    // In a cluster, what one server stores says nothing about the server that cannot.
    if (this.#reportsFault) return;
    if (outcome.kind === "stored") {
      this.#change(undefined);
      return;
    }
    const kind = this.#faultOf(outcome);
    if (kind === undefined) return;
    this.#change(kind, outcome.kind === "refused" ? outcome.refusal : outcome.cause);
    this.#timer = setTimeout(() => this.#connected && this.#change(undefined), clearAfter).unref();
  }

  /** The limit of one stream (its text begins with "maximum") is not a fault of the broker; nor is a caller's error. */
  #faultOf(outcome: Exclude<PublishOutcome, { kind: "stored" }>): BrokerFaultKind | undefined {
    // Servers that keep their connections and do not store have nobody who leads.
    const silent = this.#connected && this.#isCluster() ? "no-leader" : "away";
    if (outcome.kind !== "refused") return silent;
    const { code, description } = outcome.refusal;
    if (code === notReady) return silent;
    if (noRoom.has(code)) return "full";
    if (code !== storeFailed || description.startsWith("maximum")) return undefined;
    return isFullDisk(description) ? "full" : "io-error";
  }

  #change(kind: BrokerFaultKind | undefined, cause?: unknown): void {
    clearTimeout(this.#timer);
    if (kind === this.#kind) return;
    this.#kind = kind;
    for (const listener of this.#listeners) listener(kind, cause);
  }
}
