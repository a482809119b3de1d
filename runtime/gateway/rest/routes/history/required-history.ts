import { PlatformError } from "../../../../api/platform-error.ts";
import type { HistoryParts } from "../../app-parts.ts";

/**
 * The history of calls; `act` completes the sentence `Cannot <act>`.
 * @throws PlatformError `history_off`
 */
export function requiredHistory(history: HistoryParts | undefined, act: string): HistoryParts {
  if (history !== undefined) return history;
  throw new PlatformError("history_off", `Cannot ${act}: history is off; the setting history turns it on`);
}
