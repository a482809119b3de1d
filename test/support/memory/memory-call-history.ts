import type { FunctionRef } from "../../../runtime/core/functions/function-ref.ts";
import { callChangeRow } from "../../../runtime/core/history/call-change-row.ts";
import type { CallRow, HistoryCall } from "../../../runtime/core/history/history-row.ts";
import { rollupSeries } from "../../../runtime/core/history/rollups/rollup-series.ts";
import {
  rollupSteps,
  type RollupPoint,
  type RollupSeries,
  type RollupStep,
} from "../../../runtime/core/history/rollups/rollup.ts";
import { trimPlan } from "../../../runtime/core/history/trim-plan.ts";
import type {
  CallChange,
  CallFilter,
  CallHistory,
  CallHistoryWriter,
  CallListQuery,
  CallPage,
  CallPlace,
  HistoryBatch,
  HistoryBounds,
  HistoryGap,
  RollupQuery,
  StreamPosition,
} from "../../../runtime/core/ports/call-history.ts";

const openStates: ReadonlySet<string> = new Set(["queued", "running", "waiting"]);

/** Keeps the history in this process: every read looks at everything, and every total is exact. */
export class MemoryCallHistory implements CallHistory, CallHistoryWriter {
  readonly #calls = new Map<string, HistoryCall>();
  /** Revisions up to which changes of calls are ignored; infinite = removed for good. */
  readonly #ignored = new Map<string, number>();
  readonly #points = new Map<string, RollupPoint>();
  readonly #gaps = new Map<number, number>();
  #position: StreamPosition | undefined;
  #rollupsBefore: Readonly<Record<RollupStep, number>> = { "10s": 0, "1m": 0, "1h": 0 };

  async list({ filter, limit, after }: CallListQuery): Promise<CallPage> {
    const all = this.#rows().filter((row) => matches(row, filter));
    const rows = all.filter((row) => after === undefined || newestFirst(row, after) > 0);
    const last = rows.length > limit ? rows[limit - 1] : undefined;
    return {
      rows: rows.slice(0, limit),
      ...(last === undefined ? {} : { next: { accepted: last.accepted, id: last.id } }),
      total: { value: all.length, exact: true },
    };
  }

  async get(id: string): Promise<HistoryCall | undefined> {
    return structuredClone(this.#calls.get(id));
  }

  async replaysOf(id: string): Promise<readonly string[]> {
    const replays = this.#rows().filter((row) => this.#calls.get(row.id)?.details.entry?.replayOf === id);
    return replays
      .reverse()
      .slice(0, 100)
      .map((row) => row.id);
  }

  async functions(): Promise<readonly FunctionRef[]> {
    const refs = [...this.#rows(), ...this.#points.values()].map(({ namespace, name }) => ({ namespace, name }));
    const byKey = new Map(refs.map((ref) => [`${ref.namespace}/${ref.name}`, ref]));
    return [...byKey].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, ref]) => ref);
  }

  async gaps(): Promise<readonly HistoryGap[]> {
    return [...this.#gaps].map(([from, to]) => ({ from, to })).toSorted((one, other) => one.from - other.from);
  }

  async rollups(query: RollupQuery): Promise<readonly RollupSeries[]> {
    const before = this.#rollupsBefore[query.step];
    const kept = [...this.#points.values()].filter(({ at }) => beginOf(at, query.step) >= before);
    return rollupSeries(kept, query);
  }

  async position(): Promise<StreamPosition | undefined> {
    return this.#position;
  }

  async apply({ changes, rollups, position, gap }: HistoryBatch): Promise<void> {
    for (const change of structuredClone(changes)) this.#applyChange(change);
    for (const point of structuredClone(rollups)) {
      const key = JSON.stringify([point.namespace, point.name, point.source, beginOf(point.at, "10s")]);
      const isTooOld = beginOf(point.at, "10s") < this.#rollupsBefore["10s"];
      if (!isTooOld && !this.#points.has(key)) this.#points.set(key, point);
    }
    if (gap !== undefined) this.#gaps.set(gap.from, Math.max(gap.to, this.#gaps.get(gap.from) ?? gap.to));
    this.#position = position ?? this.#position;
  }

  async openCalls(after: string | undefined, limit: number): Promise<readonly string[]> {
    const open = this.#rows().filter(({ state, id }) => openStates.has(state) && id > (after ?? ""));
    return open
      .map(({ id }) => id)
      .sort()
      .slice(0, limit);
  }

  async markUnknown(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      const call = this.#calls.get(id);
      if (call !== undefined && openStates.has(call.row.state))
        this.#calls.set(id, { ...call, row: { ...call.row, state: "unknown" } });
    }
  }

  async remove(id: string): Promise<boolean> {
    if (openStates.has(this.#calls.get(id)?.row.state ?? "")) return false;
    this.#calls.delete(id);
    this.#ignored.set(id, Number.POSITIVE_INFINITY);
    return true;
  }

  async removeNamespace(namespace: string): Promise<void> {
    for (const [id, { row }] of this.#calls) if (row.namespace === namespace) this.#calls.delete(id);
    for (const [key, point] of this.#points) if (point.namespace === namespace) this.#points.delete(key);
  }

  async trim(bounds: HistoryBounds, now: number): Promise<boolean> {
    const { acceptedBefore, limit, excess, rollupsBefore } = trimPlan(await this.size(), bounds, now);
    const ended = this.#rows()
      .reverse()
      .filter(({ state }) => !openStates.has(state))
      .slice(0, limit);
    const removed = ended.filter(({ accepted }, index) => index < excess || accepted < acceptedBefore);
    for (const { id } of removed) this.#calls.delete(id);
    this.#rollupsBefore = rollupsBefore;
    for (const [key, { at }] of this.#points) if (beginOf(at, "1h") < rollupsBefore["1h"]) this.#points.delete(key);
    for (const [from, to] of this.#gaps) if (to < now - bounds.age) this.#gaps.delete(from);
    if (removed.length === limit) return true;
    return removed.length > 0 && trimPlan(await this.size(), bounds, now).excess > 0;
  }

  async size(): Promise<{ readonly calls: number; readonly bytes: number }> {
    const bytes = [...this.#calls.values()].reduce((sum, call) => sum + JSON.stringify(call).length, 0);
    return { calls: this.#calls.size, bytes };
  }

  #rows(): CallRow[] {
    return [...this.#calls.values()].map(({ row }) => row).sort(newestFirst);
  }

  #applyChange(change: CallChange): void {
    const id = change.kind === "sync" ? change.call.id : change.id;
    const upTo = this.#ignored.get(id) ?? Number.NEGATIVE_INFINITY;
    if (upTo === Number.POSITIVE_INFINITY || (change.kind !== "sync" && change.revision <= upTo)) return;
    const before = this.#calls.get(id);
    const after = callChangeRow(before, change);
    const isGone = after === undefined || (after === "unchanged" && before === undefined);
    if (change.kind === "withdrawn" && isGone) this.#ignored.set(id, change.revision);
    if (after === undefined) this.#calls.delete(id);
    else if (after !== "unchanged") this.#calls.set(id, after);
  }
}

function matches(row: CallRow, filter: CallFilter): boolean {
  const { function: ref, namespace, queue, kind, states, statuses, reasons, sources } = filter;
  const { since, until, idPrefix, permitted } = filter;
  const { status, reason } = row;
  return (
    (ref === undefined || (ref.namespace === row.namespace && ref.name === row.name)) &&
    (namespace === undefined || namespace === row.namespace) &&
    (queue === undefined || queue === row.queue) &&
    (kind === undefined || kind === row.kind) &&
    (states?.includes(row.state) ?? true) &&
    (statuses?.some(([from, to]) => status !== null && status >= from && status <= to) ?? true) &&
    (reasons === undefined || (reason !== null && reasons.includes(reason))) &&
    (sources?.includes(row.source) ?? true) &&
    (since === undefined || row.accepted >= since) &&
    (until === undefined || row.accepted < until) &&
    (idPrefix === undefined || row.id.replaceAll("-", "").startsWith(idPrefix)) &&
    (permitted?.includes(`${row.namespace}/${row.name}`) ?? true)
  );
}

function newestFirst(one: CallPlace, other: CallPlace): number {
  if (one.accepted !== other.accepted) return other.accepted - one.accepted;
  if (one.id === other.id) return 0;
  return one.id < other.id ? 1 : -1;
}

function beginOf(at: number, step: RollupStep): number {
  return at - (at % rollupSteps[step].length);
}
