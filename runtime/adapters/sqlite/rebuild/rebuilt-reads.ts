import { formatRef, type FunctionRef } from "../../../core/functions/function-ref.ts";
import type { CallRow, HistoryCall } from "../../../core/history/history-row.ts";
import type { RollupSeries } from "../../../core/history/rollups/rollup.ts";
import type {
  CallHistory,
  CallListQuery,
  CallPage,
  HistoryGap,
  RollupQuery,
} from "../../../core/ports/call-history.ts";

/** A history that can be closed. */
export interface ClosableHistory extends CallHistory {
  close(): Promise<void>;
}

export interface RebuiltReadsParts {
  /** The history that is filled. */
  readonly current: ClosableHistory;
  /** The one before. */
  readonly former: ClosableHistory;
  /** Whether a call was removed for good since, which the former one does not know. */
  readonly isRemoved: (id: string) => boolean;
}

const maxReplays = 100;

/**
 * Reads a history that is filled anew: the one before replies until `finish`, but for what was removed since, and as far
 * as it can be read; else the new one does.
 */
export class RebuiltReads implements ClosableHistory {
  readonly #current: ClosableHistory;
  readonly #isRemoved: (id: string) => boolean;
  readonly #hidden = new Set<string>();
  #former: ClosableHistory | undefined;

  constructor({ current, former, isRemoved }: RebuiltReadsParts) {
    this.#current = current;
    this.#former = former;
    this.#isRemoved = isRemoved;
  }

  async list(query: CallListQuery): Promise<CallPage> {
    const page = await this.#ofFormer((former) => former.list(query));
    if (page === undefined) return this.#current.list(query);
    return { ...page, rows: page.rows.filter((row) => this.#isShown(row)) };
  }

  async get(id: string): Promise<HistoryCall | undefined> {
    const [current, found] = await Promise.all([this.#current.get(id), this.#ofFormer((history) => history.get(id))]);
    const former = found !== undefined && this.#isShown(found.row) ? found : undefined;
    if (current === undefined || former === undefined) return current ?? former;
    // What the former one knows of a revision may be more.
    return current.row.revision > former.row.revision ? current : former;
  }

  async replaysOf(id: string): Promise<readonly string[]> {
    const [current, former = []] = await Promise.all([
      this.#current.replaysOf(id),
      this.#ofFormer((history) => history.replaysOf(id)),
    ]);
    return [...new Set([...former.filter((replay) => !this.#isRemoved(replay)), ...current])].slice(0, maxReplays);
  }

  async functions(): Promise<readonly FunctionRef[]> {
    const [current, former = []] = await Promise.all([
      this.#current.functions(),
      this.#ofFormer((history) => history.functions()),
    ]);
    const shown = former.filter(({ namespace }) => !this.#hidden.has(namespace));
    const all = new Map([...shown, ...current].map((ref) => [formatRef(ref), ref]));
    return [...all.values()].toSorted(
      (one, other) => compare(one.namespace, other.namespace) || compare(one.name, other.name),
    );
  }

  async gaps(): Promise<readonly HistoryGap[]> {
    const [current, former = []] = await Promise.all([
      this.#current.gaps(),
      this.#ofFormer((history) => history.gaps()),
    ]);
    const all = new Map([...former, ...current].map((gap) => [gap.from, gap]));
    return [...all.values()].toSorted((one, other) => one.from - other.from);
  }

  async rollups(query: RollupQuery): Promise<readonly RollupSeries[]> {
    return (await this.#ofFormer((former) => former.rollups(query))) ?? this.#current.rollups(query);
  }

  /** Nothing of a namespace is shown that only the former history has. */
  hide(namespace: string): void {
    this.#hidden.add(namespace);
  }

  isHidden(namespace: string): boolean {
    return this.#hidden.has(namespace);
  }

  /** The new history replies alone from now on. */
  async finish(): Promise<void> {
    const former = this.#former;
    this.#former = undefined;
    await former?.close();
  }

  async close(): Promise<void> {
    await Promise.all([this.finish(), this.#current.close()]);
  }

  #isShown({ id, namespace }: Pick<CallRow, "id" | "namespace">): boolean {
    return !this.#hidden.has(namespace) && !this.#isRemoved(id);
  }

  /** Undefined when it does not reply. */
  async #ofFormer<T>(read: (former: ClosableHistory) => Promise<T>): Promise<T | undefined> {
    const former = this.#former;
    if (former === undefined) return undefined;
    try {
      return await read(former);
    } catch {
      // It may be damaged, or just given up.
      return undefined;
    }
  }
}

function compare(one: string, other: string): number {
  return one === other ? 0 : one < other ? -1 : 1;
}
