import type { Platform } from "../platform.ts";
import { bytesOfSize } from "../sizes.ts";

/** Share of a disk that the history may fill; the rest is for what SQLite writes ahead, and for a file begun anew. */
const filledShare = 0.8;

/** Problems of the options of the history with its settings. */
export function historyRules({
  history,
  historyStorage,
  historyDatabase,
  settings,
}: Pick<Platform, "history" | "historyStorage" | "historyDatabase"> & {
  readonly settings: Pick<Platform["settings"], "history">;
}): readonly string[] {
  if (!history || historyDatabase !== undefined) return [];
  const { historyBytes, keptLogs, keptLogBytes } = settings.history;
  const needed = (historyBytes + (keptLogs ? keptLogBytes : 0)) / filledShare;
  if (bytesOfSize(historyStorage) >= needed) return [];
  const least = `${Math.ceil(needed / 2 ** 20)}Mi`;
  return [
    `historyStorage: expected at least ${least} for historyBytes and keptLogBytes, or less of them; got "${historyStorage}"`,
  ];
}
