import type { CallHistoryWriter } from "../core/ports/call-history.ts";
import { shortestRecordLife } from "./projection/decide-gap.ts";

/**
 * Writes the gap that a damaged file leaves: what only the file knew, back to the age of the oldest calls. The records
 * that still exist are read again.
 */
export async function noteLostFile(writer: CallHistoryWriter, age: number, now: number = Date.now()): Promise<void> {
  const gap = { from: now - age, to: now - shortestRecordLife };
  await writer.apply({ changes: [], rollups: [], gap });
}
