import type { CallEntry, UnstampedEntry } from "../../../runtime/core/calls/call-entry.ts";
import type { RecordLifetime } from "../../../runtime/core/calls/call-ttl.ts";
import type {
  CallLedger,
  CreateOutcome,
  LedgerEntry,
  StoredResult,
  UpdateOutcome,
} from "../../../runtime/core/ports/call-ledger.ts";
import { realClock, type MemoryClock } from "./memory-clock.ts";

/** An absent limit is unbounded; without `lifetime` records live for a day. */
export interface MemoryLedgerOptions {
  readonly lifetime?: RecordLifetime;
  readonly maxRecords?: number;
  /** Total bytes of results. */
  readonly maxResultBytes?: number;
  readonly clock?: Pick<MemoryClock, "now">;
}

const day = 86_400_000;

interface Kept<T> {
  readonly value: T;
  readonly revision: number;
  readonly writtenAt: number;
  readonly expiresAt: number;
}

/** Keeps call records and results in this process until they expire. */
export class MemoryCallLedger implements CallLedger {
  readonly #records = new Map<string, Kept<CallEntry>>();
  readonly #results = new Map<string, Kept<StoredResult>>();
  readonly #options: MemoryLedgerOptions;
  readonly #clock: Pick<MemoryClock, "now">;
  #lastRevision = 0;

  constructor(options: MemoryLedgerOptions = {}) {
    this.#options = options;
    this.#clock = options.clock ?? realClock;
  }

  async create(id: string, entry: UnstampedEntry, until: number): Promise<CreateOutcome> {
    if (performance.now() >= until) return { kind: "refused", because: "unavailable" };
    const found = this.#find(id);
    if (found !== undefined) return { kind: "exists", found };
    if (this.fill() >= 1) return { kind: "refused", because: "records-full" };
    return { kind: "created", revision: this.#write(id, entry) };
  }

  async read(id: string): Promise<LedgerEntry | undefined> {
    return this.#find(id);
  }

  async update(id: string, entry: UnstampedEntry, revision: number): Promise<UpdateOutcome> {
    if (this.#alive(this.#records, id)?.revision !== revision) return { kind: "conflict" };
    return { kind: "written", revision: this.#write(id, entry) };
  }

  fill(): number {
    for (const id of this.#records.keys()) this.#alive(this.#records, id);
    return this.#records.size / (this.#options.maxRecords ?? Number.POSITIVE_INFINITY);
  }

  now(): number {
    return this.#clock.now();
  }

  async withdraw(id: string, revision: number): Promise<void> {
    if (this.#alive(this.#records, id)?.revision === revision) this.#records.delete(id);
  }

  async putResult(id: string, run: number, result: StoredResult, ttl: number): Promise<boolean> {
    const key = `${id}.${run}`;
    let used = result.body.byteLength - (this.#alive(this.#results, key)?.value.body.byteLength ?? 0);
    for (const other of this.#results.keys()) used += this.#alive(this.#results, other)?.value.body.byteLength ?? 0;
    if (used > (this.#options.maxResultBytes ?? Number.POSITIVE_INFINITY)) return false;
    this.#results.set(key, this.#kept(result, ttl));
    return true;
  }

  async readResult(id: string, run: number): Promise<StoredResult | undefined> {
    const kept = this.#alive(this.#results, `${id}.${run}`);
    return kept === undefined ? undefined : structuredClone(kept.value);
  }

  async removeResult(id: string, run: number): Promise<void> {
    this.#results.delete(`${id}.${run}`);
  }

  /** Ids of all records. */
  ids(): readonly string[] {
    this.fill();
    return [...this.#records.keys()];
  }

  /** Milliseconds until the record of `id`, or the result of its run, expires. */
  timeLeft(id: string, run?: number): number | undefined {
    const kept = run === undefined ? this.#alive(this.#records, id) : this.#alive(this.#results, `${id}.${run}`);
    return kept === undefined ? undefined : kept.expiresAt - this.#clock.now();
  }

  #find(id: string): LedgerEntry | undefined {
    const kept = this.#alive(this.#records, id);
    if (kept === undefined) return undefined;
    return { entry: structuredClone(kept.value), revision: kept.revision, writtenAt: kept.writtenAt };
  }

  #write(id: string, entry: UnstampedEntry): number {
    const ttl = this.#options.lifetime?.(entry, this.fill()) ?? day;
    const kept = this.#kept<CallEntry>({ ...entry, expires: this.#clock.now() + ttl }, ttl);
    this.#records.set(id, kept);
    return kept.revision;
  }

  #kept<T>(value: T, ttl: number): Kept<T> {
    const now = this.#clock.now();
    return { value: structuredClone(value), revision: ++this.#lastRevision, writtenAt: now, expiresAt: now + ttl };
  }

  #alive<T>(all: Map<string, Kept<T>>, key: string): Kept<T> | undefined {
    const kept = all.get(key);
    if (kept === undefined || kept.expiresAt > this.#clock.now()) return kept;
    all.delete(key);
    return undefined;
  }
}
