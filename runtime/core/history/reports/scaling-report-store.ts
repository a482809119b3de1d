import type { DesiredFunction } from "../../functions/desired-function.ts";
import type { FunctionRef } from "../../functions/function-ref.ts";
import type { FunctionObserver, FunctionStore } from "../../ports/function-store.ts";
import type { HistoryReports, ScalingReport } from "../../ports/history-reports.ts";

/** The scaling that a write is; undefined if it is none, as a deployment. */
export function scalingReportOf(
  before: DesiredFunction | undefined,
  wanted: DesiredFunction,
): ScalingReport | undefined {
  const { namespace, name, scaled, replicas } = wanted;
  if (before === undefined || scaled === undefined || scaled.at === before.scaled?.at) return undefined;
  if (replicas === before.replicas) return undefined;
  const { reason, message } = scaled;
  return { namespace, name, at: Date.parse(scaled.at), from: before.replicas, to: replicas, reason, message };
}

/** `functions`, whose scalings are reported from now on; unchanged if there is nowhere to report them. */
export function withScalingReports(
  functions: FunctionStore,
  reports: Pick<HistoryReports, "publish"> | undefined,
): FunctionStore {
  return reports === undefined ? functions : new ScalingReportStore(functions, reports);
}

/** A store that reports the scalings that are written to it. */
class ScalingReportStore implements FunctionStore {
  readonly #inner: FunctionStore;
  readonly #reports: Pick<HistoryReports, "publish">;

  constructor(inner: FunctionStore, reports: Pick<HistoryReports, "publish">) {
    this.#inner = inner;
    this.#reports = reports;
  }

  get(ref: FunctionRef): Promise<DesiredFunction | undefined> {
    return this.#inner.get(ref);
  }

  list(namespace: string): Promise<readonly DesiredFunction[]> {
    return this.#inner.list(namespace);
  }

  async write(
    ref: FunctionRef,
    change: (current: DesiredFunction | undefined) => DesiredFunction,
  ): Promise<DesiredFunction> {
    let scaling: ScalingReport | undefined;
    const report = (): void => {
      if (scaling !== undefined) this.#reports.publish({ kind: "scaling", scaling });
    };
    const written = await this.#inner.write(ref, (current) => {
      const wanted = change(current);
      scaling = scalingReportOf(current, wanted);
      return wanted;
    });
    report();
    return written;
  }

  remove(ref: FunctionRef): Promise<boolean> {
    return this.#inner.remove(ref);
  }

  watch(observer: FunctionObserver): Promise<() => void> {
    return this.#inner.watch(observer);
  }
}
