import type { FunctionRef } from "../functions/function-ref.ts";

/** Resources that the replicas of one function use in total. */
export interface FunctionUsage {
  /** Thousandths of a processor, over the last moment. */
  readonly cpu: number;
  readonly totalMemoryBytes: number;
}

/** Reads the resource usage of functions. */
export interface Usage {
  /** Undefined when it is not known, and without running replicas; takes a few seconds at most, and never rejects. */
  of(ref: FunctionRef): Promise<FunctionUsage | undefined>;
}
