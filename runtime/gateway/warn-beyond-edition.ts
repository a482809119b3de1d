import { beyondEdition } from "../core/functions/beyond-edition.ts";
import type { FunctionTable } from "../core/replicas/function-table.ts";
import type { Log } from "../process/log.ts";
import type { GatewaySettings } from "./settings.ts";

/** A platform that was restarted in a smaller edition keeps what it has, and logs what exceeds the edition. */
export function warnBeyondEdition(
  table: FunctionTable,
  { edition, functionNamespace }: Pick<GatewaySettings, "edition" | "functionNamespace">,
  log: Log,
): void {
  const names = beyondEdition(table.entries(), edition, functionNamespace);
  if (names.length === 0) return;
  log.warn(
    { edition, count: names.length, functions: names.slice(0, 20) },
    "functions ask for more than the edition allows",
  );
}
