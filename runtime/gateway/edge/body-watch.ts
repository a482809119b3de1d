import type { Exchange } from "../calls/exchange.ts";

/** How fast a body must arrive; durations in milliseconds. */
export interface BodyPace {
  /** Longest time for the whole body. */
  readonly longest?: number;
  /** Lowest rate: at least `bytes` in any period of `within`. */
  readonly least?: { readonly bytes: number; readonly within: number };
  /** Whether the watch ends once the head of the reply is made, as the reply has its own limits. */
  readonly untilHead?: boolean;
}

/** The pace of an asynchronous call's body of at most `limit` bytes (`security.md` §2). */
export function asyncBodyPace(limit: number): Required<Omit<BodyPace, "untilHead">> {
  const longest = Math.max(60_000, (limit / (64 * 1_024)) * 1_000);
  return { longest, least: { bytes: 10 * 1_024, within: 10_000 } };
}

interface Watched {
  readonly exchange: Exchange;
  readonly pace: BodyPace;
  readonly deadline: number;
  bytes: number;
  /** Last time that bytes arrived, or that it was not being read. */
  since: number;
  /** Bytes received by each time, oldest first, as far back as `pace` needs. */
  readonly samples: { readonly at: number; readonly bytes: number }[];
}

/** Limits in milliseconds. */
export interface BodyLimits {
  /** Longest time without a byte while the body is being read. */
  readonly idle: number;
  /** Called when a body is too slow; ends the request. `why` ends a sentence that begins "its body ". */
  readonly onTooSlow: (exchange: Exchange, why: string) => void;
}

/** Finds requests whose body stops or arrives too slowly. A body that is not being read at the moment is neither. */
export class BodyWatch {
  readonly #limits: BodyLimits;
  readonly #watched = new Map<Exchange, Watched>();
  #timer: NodeJS.Timeout | undefined;

  constructor(limits: BodyLimits) {
    this.#limits = limits;
  }

  /** Watches until the whole body was received, or the exchange is closed. */
  watch(exchange: Exchange, pace: BodyPace): void {
    const now = performance.now();
    this.#watched.set(exchange, {
      exchange,
      pace,
      bytes: exchange.received,
      since: now,
      deadline: now + (pace.longest ?? Number.POSITIVE_INFINITY),
      samples: [{ at: now, bytes: exchange.received }],
    });
    exchange.once("close", () => this.#watched.delete(exchange));
    const shortest = Math.min(this.#limits.idle, pace.least?.within ?? Number.POSITIVE_INFINITY);
    this.#timer ??= setInterval(() => this.#sweep(), Math.min(1_000, shortest / 5)).unref();
  }

  #sweep(): void {
    if (this.#watched.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    const now = performance.now();
    for (const watched of this.#watched.values()) {
      const { exchange, pace } = watched;
      const over = exchange.complete || exchange.destroyed || (pace.untilHead === true && exchange.headersSent);
      const why = over ? undefined : faultOf(watched, now, this.#limits.idle);
      if (!over && why === undefined) continue;
      this.#watched.delete(exchange);
      if (why !== undefined) this.#limits.onTooSlow(exchange, why);
    }
  }
}

function faultOf(watched: Watched, now: number, idle: number): string | undefined {
  const { exchange, pace, samples } = watched;
  const bytes = exchange.received;
  if (bytes !== watched.bytes || !exchange.awaited) {
    watched.bytes = bytes;
    watched.since = now;
  }
  if (now - watched.since >= idle) return "stopped coming";
  if (now >= watched.deadline) return `took longer than ${(pace.longest ?? 0) / 1_000} s`;
  if (pace.least === undefined) return undefined;
  // Samples from before a pause in reading do not count.
  if (!exchange.awaited) samples.length = 0;
  samples.push({ at: now, bytes });
  while (samples[1] !== undefined && now - samples[1].at >= pace.least.within) samples.shift();
  const [first] = samples;
  if (first === undefined || now - first.at < pace.least.within || bytes - first.bytes >= pace.least.bytes)
    return undefined;
  return `came slower than ${pace.least.bytes} bytes in ${pace.least.within / 1_000} s`;
}
