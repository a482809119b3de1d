import type { StreamPosition } from "../../runtime/core/ports/call-history.ts";
import type { RecordBatch, RecordChanges } from "../../runtime/core/ports/record-changes.ts";
import { sampleEntry } from "../contract/samples.ts";

/** A batch with one change per id, as it is read at once. */
export function recordBatch(sequence: number, ids: readonly string[], over: Partial<RecordBatch> = {}): RecordBatch {
  const at = Date.now();
  return {
    changes: ids.map((id) => ({ kind: "entry", id, revision: sequence, entry: sampleEntry() })),
    position: { created: "2026-01-01T00:00:00Z", sequence, at, base: 0 },
    readAt: at,
    removed: 0,
    unreadable: 0,
    isLevel: true,
    isFirst: false,
    ...over,
  };
}

/** Records whose changes a test writes. */
export class ScriptedRecords implements RecordChanges {
  /** Where each reader began. */
  readonly followed: (StreamPosition | undefined)[] = [];
  readonly looked: (readonly string[])[] = [];
  /** Ids without a record. */
  gone: readonly string[] = [];
  failure: Error | undefined;
  #batches: RecordBatch[] = [];
  /** Of those who wait. */
  #wakes: (() => void)[] = [];

  now(): number {
    return Date.now();
  }

  /** The next batch of whoever reads; of several one gets it. */
  add(batch: RecordBatch): void {
    this.#batches.push(batch);
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#wakes.splice(0)) wake();
  }

  async *follow(after: StreamPosition | undefined, signal: AbortSignal): AsyncGenerator<RecordBatch, void> {
    this.followed.push(after);
    const aborted = (): void => this.#wake();
    signal.addEventListener("abort", aborted);
    while (!signal.aborted) {
      const next = this.#batches.shift();
      if (next !== undefined) yield next;
      else
        await new Promise<void>((resolve) => {
          this.#wakes.push(resolve);
        });
    }
    signal.removeEventListener("abort", aborted);
  }

  async withoutRecord(ids: readonly string[]): Promise<readonly string[]> {
    this.looked.push(ids);
    if (this.failure !== undefined) throw this.failure;
    return ids.filter((id) => this.gone.includes(id));
  }
}
