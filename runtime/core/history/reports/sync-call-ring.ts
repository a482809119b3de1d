import type { FunctionRef } from "../../functions/function-ref.ts";
import type { AnsweredCall } from "../history-row.ts";
import type { SyncCallKind } from "./choose-sync-call.ts";

/** Calls that are held until they are taken. */
const size = 1_024;
/** Calls that are held at most: of functions that keep each, of all others, and sampled ones among those. */
const room = { each: 1_000, noted: 50, sampled: 25 } as const;

const idLength = 36;
/** Longer methods are made up by clients. */
const maxMethod = 12;

/** A synchronous call that has ended. */
export interface EndedSyncCall {
  /** UUID. */
  readonly id: string;
  readonly ref: FunctionRef;
  readonly method: string;
  readonly status: number;
  /** Unix milliseconds. */
  readonly startedAt: number;
  /** Milliseconds. */
  readonly duration: number;
  readonly replica: string | undefined;
  /** Milliseconds. */
  readonly coldStart: number | undefined;
}

/**
 * Holds the calls of one second that the history keeps. Its memory is allocated once; of a call it refers to nothing
 * that belongs to the call's connection.
 */
export class SyncCallRing {
  readonly #ids = Buffer.alloc(size * idLength);
  readonly #refs: (FunctionRef | undefined)[] = Array.from({ length: size }, () => undefined);
  readonly #methods: string[] = Array.from({ length: size }, () => "");
  readonly #replicas: (string | undefined)[] = Array.from({ length: size }, () => undefined);
  readonly #statuses = new Uint16Array(size);
  readonly #startedAt = new Float64Array(size);
  readonly #durations = new Float64Array(size);
  /** -1 = it did not wait. */
  readonly #coldStarts = new Float64Array(size);
  readonly #held: Record<SyncCallKind, number> = { each: 0, noted: 0, sampled: 0 };
  #count = 0;
  #skipped = 0;

  /** Calls that found no room so far. */
  get skipped(): number {
    return this.#skipped;
  }

  /** Adds a call if there is room for one of its kind; else it is skipped, and counted. */
  add(kind: SyncCallKind, call: EndedSyncCall): void {
    if (!this.#hasRoom(kind)) {
      this.#skipped += 1;
      return;
    }
    const { id, ref, method, status, startedAt, duration, replica, coldStart = -1 } = call;
    const index = this.#count;
    this.#count += 1;
    this.#held[kind] += 1;
    this.#ids.write(id, index * idLength, idLength, "latin1");
    this.#refs[index] = ref;
    this.#methods[index] = method.length > maxMethod ? "other" : method;
    this.#replicas[index] = replica;
    this.#statuses[index] = status;
    this.#startedAt[index] = startedAt;
    this.#durations[index] = duration;
    this.#coldStarts[index] = coldStart;
  }

  /** The calls since the last time. */
  take(): readonly AnsweredCall[] {
    const calls = Array.from({ length: this.#count }, (_, index) => this.#callAt(index));
    this.#refs.fill(undefined, 0, this.#count);
    this.#replicas.fill(undefined, 0, this.#count);
    this.#count = 0;
    Object.assign(this.#held, { each: 0, noted: 0, sampled: 0 });
    return calls;
  }

  #hasRoom(kind: SyncCallKind): boolean {
    const { each, noted, sampled } = this.#held;
    if (this.#count === size) return false;
    if (kind === "each") return each < room.each;
    return noted + sampled < room.noted && (kind === "noted" || sampled < room.sampled);
  }

  #callAt(index: number): AnsweredCall {
    const { namespace = "", name = "" } = this.#refs[index] ?? {};
    const replica = this.#replicas[index];
    const coldStart = this.#coldStarts[index] ?? -1;
    return {
      namespace,
      name,
      id: this.#ids.toString("latin1", index * idLength, (index + 1) * idLength),
      method: this.#methods[index] ?? "",
      status: this.#statuses[index] ?? 0,
      startedAt: this.#startedAt[index] ?? 0,
      duration: rounded(this.#durations[index] ?? 0),
      ...(replica === undefined ? {} : { replica }),
      ...(coldStart < 0 ? {} : { coldStart: rounded(coldStart) }),
    };
  }
}

/** To microseconds. */
function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 1_000) / 1_000;
}
