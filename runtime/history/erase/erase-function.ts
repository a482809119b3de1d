import { formatRef, type FunctionRef } from "../../core/functions/function-ref.ts";
import type { CallHistoryWriter } from "../../core/ports/call-history.ts";
import type { CallErasure, LineErasure } from "../../core/ports/history-erasure.ts";
import type { KeptRequests } from "../../core/ports/kept-requests.ts";
import type { HistoryWrites } from "../history-writes.ts";

export interface EraseFunctionParts {
  readonly writer: CallHistoryWriter & Partial<CallErasure>;
  readonly writes: HistoryWrites;
  /** Absent = no log lines are kept. */
  readonly logs?: { readonly writer: Partial<LineErasure> } | undefined;
  readonly requests: Pick<KeptRequests, "removeFunction">;
  /** Whether the history is filled anew: what is not there yet would come later. */
  readonly isRebuilding: boolean;
}

/** How much was removed. */
export interface ErasedFunction {
  readonly calls: number;
  /** Calls that have not ended, and stay. */
  readonly open: number;
  readonly lines: number;
  /** Undefined: the broker could not be asked. */
  readonly requests: number | undefined;
}

/**
 * Removes ended calls, kept log lines and kept requests of a function.
 * @throws Error when that cannot be
 */
export async function eraseFunction(parts: EraseFunctionParts, ref: FunctionRef): Promise<ErasedFunction> {
  const { writer, writes, logs, requests, isRebuilding } = parts;
  if (isRebuilding) throw cannot(ref, "the history is being filled anew; try again when that is over");
  const { eraseCalls } = writer;
  const eraseLines = logs?.writer.eraseLines;
  if (eraseCalls === undefined || (logs !== undefined && eraseLines === undefined))
    throw cannot(ref, "this kind of store cannot do it");
  const { calls, open } = await writes.run(() => eraseCalls.call(writer, ref));
  const lines = await eraseLines?.call(logs?.writer, ref);
  const removed = await requests.removeFunction(ref).catch(() => undefined);
  return { calls, open, lines: lines ?? 0, requests: removed };
}

/** What was removed, in a sentence, and what was not. */
export function erasedText(ref: FunctionRef, { calls, open, lines, requests }: ErasedFunction): string {
  const name = formatRef(ref);
  const all = [
    counted(calls, "call"),
    counted(lines, "log line"),
    ...(requests === undefined ? [] : [counted(requests, "kept request")]),
  ];
  return [
    `Removed of function "${name}": ${all.slice(0, -1).join(", ")} and ${all.at(-1)}`,
    ...(open === 0
      ? []
      : [
          `${counted(open, "call")} of it ${open === 1 ? "has" : "have"} not ended and ${open === 1 ? "stays" : "stay"}: erase it again later`,
        ]),
    ...(requests === undefined ? ["Kept requests stay: the broker could not be asked; erase it again later"] : []),
  ].join("\n");
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

function cannot(ref: FunctionRef, why: string): Error {
  return new Error(`Cannot erase function "${formatRef(ref)}": ${why}`);
}
