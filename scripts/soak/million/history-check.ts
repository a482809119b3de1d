import { callPages } from "../../../test/support/call-pages.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { historyProcess } from "../../../test/support/history-process.ts";
import type { PlatformProcess } from "../../../test/support/platform-process.ts";
import type { Platform } from "../../../test/support/platform.ts";
import { openRestPlatform } from "../../../test/support/rest-platform.ts";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import type { CallTally } from "./call-tally.ts";

/** What comparing the history with the tally gave. */
export interface ComparedHistory {
  readonly pages: number;
  /** Milliseconds until it had read all records. */
  readonly lag: number;
  /** What kept it from being compared, a sentence each; differences are in the tally. */
  readonly violations: readonly string[];
}

/** A history process beside the platform, and the routes of a gateway that ask it. */
export interface HistoryCheck extends AsyncDisposable {
  readonly process: PlatformProcess;
  /** Marks in the tally each call that `GET /system/calls` lists, page by page. */
  compare(tally: CallTally): Promise<ComparedHistory>;
}

/** Milliseconds for a history that is behind. */
const levelWithin = 120_000;
/** Milliseconds after which it is not asked again for a page that it did not give. */
const listedWithin = 600_000;

/** Opens it; the history is ready. */
export async function openHistoryCheck({ server }: Platform): Promise<HistoryCheck> {
  const opened = new AsyncDisposableStack();
  try {
    const directory = opened.use(await tempDirectory("history"));
    const { process, reads } = await historyProcess({ directory: directory.path, server });
    opened.defer(() => reads.close());
    opened.defer(() => process.kill());
    await process.start();
    const progress = () => reads.progress();
    const rest = opened.use(await openRestPlatform({ history: { reads, progress, remove: (id) => reads.remove(id) } }));
    const get = async (path: string) => {
      const response = await rest.call("GET", path);
      return { status: response.status, text: await response.text() };
    };
    return {
      process,
      compare: async (tally) => {
        const begun = performance.now();
        const violations = [...process.mishaps];
        let [pages, lag] = [0, 0];
        try {
          const level = async (): Promise<boolean> => (await progress()).lagSeconds === 0;
          await eventually(level, { within: levelWithin, every: 100, what: "the history to be level" });
          lag = performance.now() - begun;
          for await (const { items, history } of callPages(get, { signal: AbortSignal.timeout(listedWithin) })) {
            pages += 1;
            for (const item of items) tally.listed(item);
            if (!history.complete || history.gaps.length > 0)
              violations.push(`history: page ${pages} is not complete: ${JSON.stringify(history)}`);
          }
        } catch (err) {
          violations.push(`history: ${err instanceof Error ? err.message : String(err)}`);
        }
        return { pages, lag, violations };
      },
      [Symbol.asyncDispose]: async () => opened.disposeAsync(),
    };
  } catch (err) {
    await opened.disposeAsync();
    throw err;
  }
}
