import type { DesiredFunction } from "../../functions/desired-function.ts";
import { functionStoreWith } from "../../functions/function-store-with.ts";
import type { FunctionStore } from "../../ports/function-store.ts";
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
  if (reports === undefined) return functions;
  return functionStoreWith(functions, {
    write: async (ref, change) => {
      let scaling: ScalingReport | undefined;
      const report = (): void => {
        if (scaling !== undefined) reports.publish({ kind: "scaling", scaling });
      };
      const written = await functions.write(ref, (current) => {
        const wanted = change(current);
        scaling = scalingReportOf(current, wanted);
        return wanted;
      });
      report();
      return written;
    },
  });
}
