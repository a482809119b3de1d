import type { HistoryOperation } from "../../api/schemas/history/history-wire.ts";
import type { FunctionRef } from "../../core/functions/function-ref.ts";
import type { CallHistory, CallListQuery, RollupQuery } from "../../core/ports/call-history.ts";
import type { KeptLineQuery, KeptLogs, KeptLogsWriter, LinePlace } from "../../core/ports/kept-logs.ts";

/** What the operations of the history's API do. */
export interface OperationParts {
  readonly reads: CallHistory;
  /** False if the call is open. */
  readonly remove: (id: string) => Promise<boolean>;
  /** Removes what is kept of a function. */
  readonly erase: (ref: FunctionRef) => Promise<unknown>;
  /** Begins to fill the history anew, in a process that is started after this one. */
  readonly requestRebuild: () => Promise<void>;
  /** Absent = no lines are kept. */
  readonly logs?: { readonly reads: KeptLogs; readonly writer: Pick<KeptLogsWriter, "remove"> } | undefined;
}

/** An argument that no gateway sends. */
export class BadArgument extends Error {
  override readonly name = "BadArgument";
}

/** The result of an operation; rejects with `BadArgument`, or as the history does. */
export async function answerOperation(
  { reads, remove, erase, requestRebuild, logs }: OperationParts,
  operation: HistoryOperation,
  argument: unknown,
): Promise<unknown> {
  switch (operation) {
    case "list":
      return reads.list(queryIn<CallListQuery>(argument, "filter", "limit"));
    case "get":
      return reads.get(callIdIn(argument));
    case "replays":
      return reads.replaysOf(callIdIn(argument));
    case "functions":
      return reads.functions();
    case "gaps":
      return reads.gaps();
    case "rollups":
      return reads.rollups(queryIn<RollupQuery>(argument, "functions", "step", "since", "until"));
    case "remove":
      return remove(callIdIn(argument));
    case "lines":
      return keptLogsIn(logs).reads.lines(queryIn<KeptLineQuery>(argument, "namespace", "name", "limit"));
    case "line-replicas":
      return keptLogsIn(logs).reads.lineReplicas(queryIn<FunctionRef>(argument, "namespace", "name"));
    case "remove-lines": {
      const { ref, places } = queryIn<LineRemoval>(argument, "ref", "places");
      return keptLogsIn(logs).writer.remove(ref, places);
    }
    case "erase":
      return erase(queryIn<FunctionRef>(argument, "namespace", "name"));
    case "rebuild":
      return requestRebuild();
    default:
      return operation satisfies never;
  }
}

/** Which lines of a function are to be removed. */
interface LineRemoval {
  readonly ref: FunctionRef;
  readonly places: readonly LinePlace[];
}

function keptLogsIn(logs: OperationParts["logs"]): NonNullable<OperationParts["logs"]> {
  if (logs === undefined) throw new Error("it keeps no log lines; the setting kept_logs turns that on");
  return logs;
}

function callIdIn(argument: unknown): string {
  if (typeof argument !== "string") throw new BadArgument("the argument is not a call id");
  return argument;
}

/** Only gateways have the key, and they parse what users send: what is in the members is their word. */
function queryIn<T>(argument: unknown, ...members: readonly (keyof T & string)[]): T {
  if (typeof argument !== "object" || argument === null || !members.every((member) => member in argument))
    throw new BadArgument(`the argument is not an object with ${members.join(", ")}`);
  return argument as T;
}
