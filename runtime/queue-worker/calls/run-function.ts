import { PlatformError } from "../../api/platform-error.ts";
import type { QueuedCall } from "../../core/calls/call.ts";
import { decideAttempt, type RefusedAttempt } from "../../core/calls/decide-attempt.ts";
import { limitsIn } from "../../core/functions/function-facts.ts";
import { runTimeout, type FunctionLimits } from "../../core/functions/function-limits.ts";
import type { TableEntry } from "../../core/replicas/function-table.ts";
import type { ReadyReplica } from "../../core/replicas/pick-replica.ts";
import { formatRef } from "../../core/functions/function-ref.ts";
import type { RunPlace } from "../../core/calls/call-transitions.ts";
import type { RunOutcome } from "../../core/calls/judge-run.ts";
import type { InvokeOptions } from "../../core/ports/invoker.ts";
import type { WorkerParts } from "../worker-parts.ts";

type RunParts = Pick<
  WorkerParts,
  "functions" | "table" | "waker" | "invoker" | "runsThrough" | "queue" | "timeoutMax" | "resultLimit"
>;

/** How a run ended, and where it was. */
export interface FunctionRun extends RunPlace {
  readonly outcome: RunOutcome;
}

/** The limits of the function's deployment; undefined when there is no such function. */
export function limitsOf(entry: TableEntry | undefined): FunctionLimits | undefined {
  return entry === undefined ? undefined : limitsIn(entry.facts);
}

/** Runs a queued call once: on a ready replica, waking the function if need be. Never rejects. */
export async function runFunction(
  parts: RunParts,
  call: QueuedCall,
  attempt: number,
  signal: AbortSignal,
): Promise<FunctionRun> {
  const entry = parts.table.findKey(formatRef(call.function));
  const limits = limitsOf(entry);
  if (entry === undefined || limits === undefined) return { outcome: await withoutEntry(parts, call) };

  const options = {
    attempt,
    timeout: runTimeout(parts.queue.timeout, parts.timeoutMax, limits),
    outputLimit: parts.resultLimit,
    signal,
  };
  if (parts.runsThrough !== undefined) {
    const outcome = await parts.invoker.invoke(parts.runsThrough, call, options);
    // Only the store can confirm that: the gateway's table may lag behind it, too.
    return { outcome: outcome.kind === "function-gone" ? await withoutEntry(parts, call) : outcome };
  }
  return runOnReplica(parts, call, { entry, options: { ...options, protocol: limits.protocol }, limits });
}

interface ReplicaRun {
  readonly entry: TableEntry;
  readonly limits: FunctionLimits;
  readonly options: InvokeOptions;
}

async function runOnReplica(
  { invoker, waker }: RunParts,
  call: QueuedCall,
  { entry, limits, options }: ReplicaRun,
): Promise<FunctionRun> {
  const startedAt = performance.now();
  const { signal } = options;
  let waitedSince: number | undefined;
  let coldStart: number | undefined;
  let refused: RefusedAttempt | undefined;
  let refusals = 0;
  let sentTo: string | undefined;
  let outcome: RunOutcome = { kind: "aborted", duration: 0 };
  for (;;) {
    const next = decideAttempt(entry, limits.concurrencyMax, refused);
    switch (next.kind) {
      case "send":
        // Another one may be at its address by the time the run ends.
        sentTo = next.replica.name;
        outcome = await sendTo(next.replica, () => invoker.invoke(next.replica.address, call, options));
        if (outcome.kind !== "unreachable" || outcome.sent) return { outcome, replica: sentTo, coldStart };
        refused = { replica: next.replica, before: refusals, repeatable: true };
        refusals += 1;
        break;
      case "wait":
        waitedSince ??= performance.now();
        refused = undefined;
        try {
          await waker.wait(entry, { signal, bytes: call.body.length, since: waitedSince });
        } catch (err) {
          const failure = wakeFailure(err, signal, performance.now() - startedAt);
          return { outcome: failure, coldStart: performance.now() - waitedSince };
        }
        coldStart = performance.now() - waitedSince;
        break;
      case "busy": {
        const error = `Cannot call function "${entry.key}": ${String(next.state)}`;
        return { outcome: { kind: "no-replica", error, duration: performance.now() - startedAt }, coldStart };
      }
      case "dead-letter":
        return { outcome, replica: sentTo, coldStart };
      default:
        return next satisfies never;
    }
  }
}

async function sendTo<T>(replica: ReadyReplica, send: () => Promise<T>): Promise<T> {
  replica.inFlight++;
  try {
    return await send();
  } finally {
    replica.inFlight--;
  }
}

function wakeFailure(err: unknown, signal: AbortSignal, duration: number): RunOutcome {
  if (signal.aborted) return { kind: "aborted", duration };
  if (err instanceof PlatformError && err.code === "function_not_found") return { kind: "function-gone", duration };
  return { kind: "no-replica", error: err instanceof Error ? err.message : String(err), duration };
}

/** The table may lag behind the store: only the store can confirm that a function is gone, which ends the call. */
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
