import { eventually } from "./eventually.ts";
import type { WeirProcess } from "./weir-process.ts";

/**
 * Resolves when the history of calls replies. It starts after everything else, and what reads it ends after a minute
 * without a read: until then a machine at its limits replies 503, try again.
 */
export async function untilHistoryReplies({ url, authorization }: WeirProcess): Promise<void> {
  await eventually(
    async () => (await fetch(`${url}/system/calls?limit=1`, { headers: { authorization } })).status === 200,
    { what: "the history of calls" },
  );
}
