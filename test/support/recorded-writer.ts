import type {
  CallHistoryWriter,
  HistoryBatch,
  HistoryBounds,
  StreamPosition,
} from "../../runtime/core/ports/call-history.ts";

/** Notes what it is asked to store; fails as long as a test says so. */
export class RecordedWriter implements CallHistoryWriter {
  readonly batches: HistoryBatch[] = [];
  readonly unknown: string[] = [];
  readonly removed: string[] = [];
  readonly removedNamespaces: string[] = [];
  /** Ids of open calls, in their order. */
  open: readonly string[] = [];
  /** Calls beyond the bounds: 1 000 go at a time. */
  tooMany = 0;
  trims = 0;
  failure: Error | undefined;
  stored: StreamPosition | undefined;
  /** Operations that were begun and are not over. */
  #busy = 0;
  mostAtOnce = 0;

  position(): Promise<StreamPosition | undefined> {
    return this.#do(() => this.stored);
  }

  apply(batch: HistoryBatch): Promise<void> {
    return this.#do(() => {
      this.batches.push(batch);
      this.stored = batch.position ?? this.stored;
    });
  }

  openCalls(after: string | undefined, limit: number): Promise<readonly string[]> {
    return this.#do(() => this.open.filter((id) => after === undefined || id > after).slice(0, limit));
  }

  markUnknown(ids: readonly string[]): Promise<void> {
    return this.#do(() => void this.unknown.push(...ids));
  }

  remove(id: string): Promise<boolean> {
    return this.#do(() => this.removed.push(id) > 0);
  }

  removeNamespace(namespace: string): Promise<void> {
    return this.#do(() => void this.removedNamespaces.push(namespace));
  }

  trim(_bounds: HistoryBounds): Promise<boolean> {
    return this.#do(() => {
      this.trims += 1;
      this.tooMany = Math.max(0, this.tooMany - 1_000);
      return this.tooMany > 0;
    });
  }

  size(): Promise<{ readonly calls: number; readonly bytes: number }> {
    return this.#do(() => ({ calls: 7, bytes: 4_096 }));
  }

  async #do<T>(act: () => T): Promise<T> {
    this.#busy += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#busy);
    await Promise.resolve();
    this.#busy -= 1;
    if (this.failure !== undefined) throw this.failure;
    return act();
  }
}
