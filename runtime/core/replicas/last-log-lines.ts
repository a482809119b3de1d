import type { FunctionRef } from "../functions/function-ref.ts";
import type { LogSource } from "../ports/log-source.ts";
import { printable } from "../printable.ts";

/** Maximum lines that are shown, and characters of each. */
const max = { lines: 10, characters: 400 } as const;

/**
 * The last lines that the replicas of a function wrote since `since` (Unix milliseconds), oldest first, printable and
 * without line ends; when `signal` aborts, those read so far.
 */
export async function lastLogLines(
  logs: LogSource,
  { namespace, name }: FunctionRef,
  since: number,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const found: { readonly timestamp: string; readonly text: string }[] = [];
  const query = { namespace, name, instance: undefined, tail: max.lines, since, follow: false };
  try {
    for await (const { timestamp, text } of logs.read(query, signal)) {
      if (signal.aborted) break;
      found.push({ timestamp, text });
    }
  } catch (err) {
    if (!signal.aborted) throw err;
  }
  return found
    .sort((a, b) => (a.timestamp < b.timestamp ? -1 : a.timestamp > b.timestamp ? 1 : 0))
    .slice(-max.lines)
    .map(({ text }) => printable(text.trimEnd()).slice(0, max.characters));
}
