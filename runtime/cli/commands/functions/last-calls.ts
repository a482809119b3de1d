import type { ErrorCode } from "../../../api/platform-error.ts";
import type { FunctionStatus } from "../../../api/schemas/function-status.ts";
import type { CallSummary } from "../../../api/schemas/history/call-summary.ts";
import { CliError } from "../../cli-error.ts";
import type { GatewayClient } from "../../client/gateway-client.ts";
import { exitCode } from "../../exit-code.ts";
import { escapeLine } from "../../output/escape-text.ts";
import { formatTable, type Column } from "../../output/format-table.ts";
import { callColumn } from "../calls/call-columns.ts";
import { stateText } from "../calls/call-text.ts";
import { readCalls } from "../calls/read-calls.ts";
import { hasNoHistory } from "../calls/refuse-history.ts";

const shown = 5;

/**
 * The last calls of a function for people, a line each. Empty if there are none, the gateway keeps no history of calls,
 * or does not show it; a sentence if it cannot be read now.
 */
export async function lastCallsText(
  gateway: GatewayClient,
  { name, namespace }: Pick<FunctionStatus, "name" | "namespace">,
): Promise<string> {
  try {
    const { items } = await readCalls(gateway, { function: `${name}.${namespace}` }, shown);
    return items.length === 0 ? "" : formatTable(columns, items);
  } catch (err) {
    if (!(err instanceof CliError) || err.exit === exitCode.interrupted) throw err;
    if (hasNoHistory(err) || err.code === ("forbidden" satisfies ErrorCode)) return "";
    return `last calls: not known: ${escapeLine(err.message)}\n`;
  }
}

const columns: readonly Column<CallSummary>[] = [
  { title: "LAST CALLS", cell: ({ callId }) => callId },
  { title: "STATE", cell: stateText },
  callColumn.status,
  callColumn.took,
  callColumn.age,
];
