import type { DesiredFunction } from "../core/functions/desired-function.ts";
import { formatRef, type FunctionRef } from "../core/functions/function-ref.ts";
import type { FunctionTable } from "../core/replicas/function-table.ts";
import type { FunctionEndpoints } from "../core/ports/endpoints.ts";
import type { FunctionView } from "../core/replicas/rollout.ts";
import { WakeList } from "../core/replicas/wake-list.ts";

/** The function table as a view for waiters, which it wakes when their function changes. */
export class TableView implements FunctionView {
  readonly #table: FunctionTable;
  readonly #waiters = new WakeList();

  constructor(table: FunctionTable) {
    this.#table = table;
    table.onWanted(({ key }) => this.#waiters.wake(key));
    table.onReplicas(({ key }) => this.#waiters.wake(key));
    table.onRemoved(({ key }) => this.#waiters.wake(key));
  }

  wanted(ref: FunctionRef): DesiredFunction | undefined {
    return this.#table.findKey(formatRef(ref))?.wanted;
  }

  endpoints(ref: FunctionRef): FunctionEndpoints | undefined {
    return this.#table.findKey(formatRef(ref))?.endpoints;
  }

  watch(ref: FunctionRef, changed: () => void): () => void {
    return this.#waiters.watch(formatRef(ref), changed);
  }
}
