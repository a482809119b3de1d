import type { BrokerFault } from "../../../core/ports/broker-health.ts";
import type { PublishOutcome } from "./publish-outcome.ts";

/** Why the broker cannot store: it does not reply, or it has no room. */
export type BrokerFaultKind = "away" | "full";

/** Called when a fault begins, with its cause, and when it ends (`kind` is undefined). */
export type BrokerStateListener = (kind: BrokerFaultKind | undefined, cause?: unknown) => void;

/** Milliseconds after which a fault that no further publish confirms is cleared: there may be no more publishes. */
const clearAfter = 5_000;

/** NATS error codes (server `errors.json`). */
const noRoom = new Set([10_023, 10_047]);
const storeFailed = 10_077;
const notReady = 10_008;

/**
 * Whether the broker stores what this process publishes. The connection and every publish report here: the first
 * failure begins a fault, a stored publish ends it. A broker whose disk is full may not reply to publishes at all, so
 * where its monitoring is available, that takes precedence.
 */
export class BrokerState {
  readonly #listeners = new Set<BrokerStateListener>();
  #kind: BrokerFaultKind | undefined;
  #connected = true;
  #reportsFault = false;
  #timer: NodeJS.Timeout | undefined;

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
      this.#reportsFault = false;
      this.#change(undefined);
    } else if (!this.#reportsFault) this.#change("away", cause);
  }

  /** Takes in what the broker's monitoring reports: why it cannot store, or undefined when it can. */
  onHealth(fault: BrokerFault | undefined): void {
    const was = this.#reportsFault;
    this.#reportsFault = fault !== undefined;
    if (this.#reportsFault) this.#change("full", fault);
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
    const kind = faultOf(outcome);
    if (kind === undefined) return;
    this.#change(kind, outcome.kind === "refused" ? outcome.refusal : outcome.cause);
    this.#timer = setTimeout(() => this.#connected && this.#change(undefined), clearAfter).unref();
  }

  #change(kind: BrokerFaultKind | undefined, cause?: unknown): void {
    clearTimeout(this.#timer);
    if (kind === this.#kind) return;
    this.#kind = kind;
    for (const listener of this.#listeners) listener(kind, cause);
  }
}

/** The limit of one stream (its text begins with "maximum") is not a fault of the broker; nor is a caller's error. */
function faultOf(outcome: Exclude<PublishOutcome, { kind: "stored" }>): BrokerFaultKind | undefined {
  if (outcome.kind !== "refused") return "away";
  const { code, description } = outcome.refusal;
  if (code === notReady) return "away";
  return noRoom.has(code) || (code === storeFailed && !description.startsWith("maximum")) ? "full" : undefined;
}
