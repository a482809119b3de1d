/** Which synchronous calls of a function are kept (annotation `history.sync`); undefined = failed and cold ones, and a sample. */
export type KeptSyncCalls = "all" | "none" | undefined;

/** Why a synchronous call is kept: its function keeps each, or what happened to it, or chance. */
export type SyncCallKind = "each" | "noted" | "sampled";

/** How a synchronous call ended, as far as it decides whether the call is kept. */
export interface SyncCallFate {
  readonly status: number;
  /** Whether the gateway replied itself, with an error. */
  readonly isOwnError?: boolean | undefined;
  /** Milliseconds that it waited for a replica to start; undefined = it did not wait. */
  readonly coldStart?: number | undefined;
}

/** Why a call that has ended is kept; undefined = it is not. `sample` is the share that is kept of all others. */
export function chooseSyncCall(
  kept: KeptSyncCalls,
  { status, isOwnError, coldStart }: SyncCallFate,
  sample: number,
  chance: () => number = Math.random,
): SyncCallKind | undefined {
  if (kept === "none") return undefined;
  if (kept === "all") return "each";
  if (status >= 500 || isOwnError === true || coldStart !== undefined) return "noted";
  return chance() < sample ? "sampled" : undefined;
}
