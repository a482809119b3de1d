import { PlatformError } from "../../api/platform-error.ts";
import type { QueuedCall } from "../../core/calls/call.ts";
import { knownLimits, runTimeout, type FunctionLimits } from "../../core/functions/function-limits.ts";
import { pickReplica, type ReadyReplica, type TableEntry } from "../../core/replicas/function-table.ts";
import { formatRef } from "../../core/functions/function-ref.ts";
import type { RunOutcome } from "../../core/calls/judge-run.ts";
import type { WaitingCaller } from "../../core/replicas/wake.ts";
import type { WorkerParts } from "../worker-parts.ts";

type RunParts = Pick<
  WorkerParts,
  "functions" | "table" | "waker" | "invoker" | "runsThrough" | "queue" | "timeoutMax" | "resultLimit"
>;

/** What the function's deployment says; undefined when there is no such function. */
export function limitsOf(entry: TableEntry | undefined): FunctionLimits | undefined {
  return entry === undefined ? undefined : knownLimits(entry.wanted.deployment);
}

/** Runs a queued call once: on a ready replica, waking the function if need be. Never rejects. */
export async function runFunction(
  parts: RunParts,
  call: QueuedCall,
  attempt: number,
  signal: AbortSignal,
): Promise<RunOutcome> {
  const startedAt = performance.now();
  const entry = parts.table.findKey(formatRef(call.function));
  const limits = limitsOf(entry);
  if (entry === undefined || limits === undefined) return withoutEntry(parts, call);

  const options = {
    attempt,
    timeout: runTimeout(parts.queue.timeout, parts.timeoutMax, limits),
    outputLimit: parts.resultLimit,
    signal,
  };
  if (parts.runsThrough !== undefined) {
    const outcome = await parts.invoker.invoke(parts.runsThrough, call, options);
    // Only the store can say so: the gateway's table may lag behind it, too.
    return outcome.kind === "function-gone" ? withoutEntry(parts, call) : outcome;
  }
  let outcome: RunOutcome = { kind: "aborted", duration: 0 };
  let tried: ReadyReplica | undefined;
  let waitedSince: number | undefined;
  // A replica that refuses the connection has seen nothing of the call: one other is tried.
  for (let round = 0; round < 2; round++) {
    let replica: ReadyReplica | undefined;
    try {
      replica = pickReplica(entry, limits.concurrencyMax, tried);
      if (replica === undefined) {
        waitedSince ??= performance.now();
        replica = await readyReplica(parts, entry, tried, { signal, bytes: call.body.length, since: waitedSince });
      }
    } catch (err) {
      const duration = performance.now() - startedAt;
      if (signal.aborted) return { kind: "aborted", duration };
      if (err instanceof PlatformError && err.code === "function_not_found") return { kind: "function-gone", duration };
      return { kind: "no-replica", error: err instanceof Error ? err.message : String(err), duration };
    }
    if (replica === undefined) break;
    replica.inFlight++;
    try {
      outcome = await parts.invoker.invoke(replica.address, call, { ...options, protocol: limits.protocol });
    } finally {
      replica.inFlight--;
    }
    if (outcome.kind !== "unreachable" || outcome.sent) break;
    tried = replica;
  }
  return outcome;
}

/** The table may lag behind the store: only the store can say that a function is gone, which ends the call for good. */
async function withoutEntry(parts: RunParts, call: QueuedCall): Promise<RunOutcome> {
  const startedAt = performance.now();
  let error = "the function has only just been deployed";
  try {
    if ((await parts.functions.get(call.function)) === undefined) return { kind: "function-gone", duration: 0 };
  } catch (err) {
    error = err instanceof Error ? err.message : String(err);
  }
  return { kind: "no-replica", error, duration: performance.now() - startedAt };
}

async function readyReplica(
  parts: RunParts,
  entry: TableEntry,
  tried: ReadyReplica | undefined,
  caller: WaitingCaller,
): Promise<ReadyReplica | undefined> {
  if (tried !== undefined && entry.replicas.length > 0) return undefined;
  if (entry.replicas.length > 0) {
    throw new PlatformError(
      "too_many_calls",
      `Cannot call function "${entry.key}": all replicas are at concurrency.max`,
    );
  }
  return parts.waker.wait(entry, caller);
}
