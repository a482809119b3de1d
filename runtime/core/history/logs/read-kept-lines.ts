import type { KeptLine, KeptLineQuery, KeptLogs, LinePlace } from "../../ports/kept-logs.ts";

/** Lines of a page. */
const pageLimit = 1_000;

/** All kept lines that a query finds, page by page. */
export async function* readKeptLines(
  kept: KeptLogs,
  query: Omit<KeptLineQuery, "after" | "limit" | "newest">,
  signal?: AbortSignal,
): AsyncGenerator<KeptLine> {
  for (let after: LinePlace | undefined; signal?.aborted !== true;) {
    const { lines, next } = await kept.lines({ ...query, limit: pageLimit, ...(after === undefined ? {} : { after }) });
    yield* lines;
    if (next === undefined) return;
    after = next;
  }
}
