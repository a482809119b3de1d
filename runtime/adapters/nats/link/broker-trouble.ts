import type { BrokerIllness } from "../../../core/ports/broker-health.ts";
import type { PublishOutcome } from "./durable-publish.ts";

/** What keeps the broker from storing: it does not answer, or it has no room. */
export type TroubleKind = "away" | "full";

/** Hears of a trouble that begins, with what showed it, or of its end. */
export type HearTrouble = (kind: TroubleKind | undefined, cause?: unknown) => void;

/** Trouble that nothing showed for so long, in milliseconds, is over: nobody may be writing any more. */
const forgetAfter = 5_000;

/** NATS error codes (server `errors.json`). */
const noRoom = new Set([10_023, 10_047]);
const storeFailed = 10_077;
const notReady = 10_008;

/**
 * Whether the broker stores what this process publishes. Told by the connection and by every publish: the first that fails
 * begins the trouble, one that is stored ends it. A broker whose disk is full may answer no publish at all: where its
 * monitoring can be asked, its own word that it cannot store counts for more.
 */
export class BrokerTrouble {
  readonly #hearers = new Set<HearTrouble>();
  #kind: TroubleKind | undefined;
  #connected = true;
  #isIll = false;
  #timer: NodeJS.Timeout | undefined;

  get kind(): TroubleKind | undefined {
    return this.#kind;
  }

  onChange(hear: HearTrouble): void {
    this.#hearers.add(hear);
  }

  /** There is no connection yet, which is trouble only when the first attempt fails. */
  begin(): void {
    this.#connected = false;
  }

  /** The connection was lost or cannot be made, with what says so, or is there again. */
  connected(is: boolean, cause: unknown = new Error("the connection was lost")): void {
    this.#connected = is;
    if (is) {
      // Whoever is there again was restarted, or is asked again.
      this.#isIll = false;
      this.#change(undefined);
    } else if (!this.#isIll) this.#change("away", cause);
  }

  /** Takes in what the broker says of itself: why it cannot store, or that nothing is wrong. */
  said(illness: BrokerIllness | undefined): void {
    const was = this.#isIll;
    this.#isIll = illness !== undefined;
    if (this.#isIll) this.#change("full", illness);
    else if (was) this.#change(undefined);
  }

  /** Takes in how a publish went. */
  heard(outcome: PublishOutcome): void {
    // What one server of several stores is no word of the one that cannot.
    if (this.#isIll) return;
    if (outcome.kind === "stored") {
      this.#change(undefined);
      return;
    }
    const kind = troubleOf(outcome);
    if (kind === undefined) return;
    this.#change(kind, outcome.kind === "refused" ? outcome.refusal : outcome.cause);
    this.#timer = setTimeout(() => this.#connected && this.#change(undefined), forgetAfter).unref();
  }

  #change(kind: TroubleKind | undefined, cause?: unknown): void {
    clearTimeout(this.#timer);
    if (kind === this.#kind) return;
    this.#kind = kind;
    for (const hear of this.#hearers) hear(kind, cause);
  }
}

/** A limit of one stream is no trouble of the broker: that text begins with "maximum". Nor is what the caller sent. */
function troubleOf(outcome: Exclude<PublishOutcome, { kind: "stored" }>): TroubleKind | undefined {
  if (outcome.kind !== "refused") return "away";
  const { code, description } = outcome.refusal;
  if (code === notReady) return "away";
  return noRoom.has(code) || (code === storeFailed && !description.startsWith("maximum")) ? "full" : undefined;
}
