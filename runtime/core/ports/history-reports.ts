import type { FunctionRef } from "../functions/function-ref.ts";
import type { AnsweredCall } from "../history/history-row.ts";
import type { RollupPoint, Scaling } from "../history/rollups/rollup.ts";

/** A scaling of one function. */
export interface ScalingReport extends FunctionRef, Scaling {}

/** What processes report for the history. */
export type HistoryReport =
  | { readonly kind: "sync"; readonly calls: readonly AnsweredCall[] }
  | { readonly kind: "rollup"; readonly points: readonly RollupPoint[] }
  | { readonly kind: "scaling"; readonly scaling: ScalingReport };

/** Broadcasts what the history keeps beside the records; best effort, nothing is stored on the way. */
export interface HistoryReports {
  publish(report: HistoryReport): void;
  /** The returned function unsubscribes. */
  subscribe(listener: (report: HistoryReport) => void): () => void;
}
