import type { FunctionTable, TableEntry } from "../replicas/function-table.ts";

/** How long functions took to start: from when a replica was desired and none was ready until the first one was. */
export class StartTimes {
  readonly #table: Pick<FunctionTable, "synced">;
  readonly #now: () => number;
  readonly #begun = new Map<string, number>();
  readonly #last = new Map<string, number>();

  /** `now` counts monotonic milliseconds. */
  constructor(table: FunctionTable, now: () => number = () => performance.now()) {
    this.#table = table;
    this.#now = now;
    table.onWanted((entry) => this.#see(entry));
    table.onReplicas((entry) => this.#see(entry));
    table.onRemoved(({ key }) => {
      this.#begun.delete(key);
      this.#last.delete(key);
    });
  }

  /** Milliseconds of the last start of `<name>.<namespace>` that was seen as a whole. */
  last(key: string): number | undefined {
    return this.#last.get(key);
  }

  #see({ key, wanted, replicas }: TableEntry): void {
    const begun = this.#begun.get(key);
    if (wanted.replicas === 0) this.#begun.delete(key);
    else if (replicas.length === 0) {
      // Before the table knows all replicas, none being there says nothing.
      if (begun === undefined && this.#table.synced) this.#begun.set(key, this.#now());
    } else if (begun !== undefined) {
      this.#last.set(key, this.#now() - begun);
      this.#begun.delete(key);
    }
  }
}
