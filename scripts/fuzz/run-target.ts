import { Worker } from "node:worker_threads";

import { poisonCondition } from "../../test/support/poison-condition.ts";
import type { FuzzOutcome } from "./fuzz.ts";
import { progressMemory, progressOf } from "./progress.ts";

/** The task of a worker. */
export interface Order {
  readonly target: string;
  readonly seconds: number;
  readonly seed: number;
  readonly corpus: readonly Uint8Array[];
  /** Runs these and nothing else. */
  readonly replay?: readonly Uint8Array[];
  readonly shared: SharedArrayBuffer;
}

/** Longest one input may take (`security.md` §11), milliseconds. */
const hang = 11_000;
/** Longest until the first input, milliseconds. */
const start = 60_000;
const heapMegabytes = 512;

/**
 * Runs a target in a separate thread: an input that ends the thread, exhausts its memory or keeps it busy for more than
 * 11 s is a find, too.
 */
export async function runTarget(order: Omit<Order, "shared">): Promise<FuzzOutcome> {
  const shared = progressMemory();
  const progress = progressOf(shared);
  const worker = new Worker(new URL("./worker.ts", import.meta.url), {
    workerData: { ...order, shared } satisfies Order,
    resourceLimits: { maxOldGenerationSizeMb: heapMegabytes },
    execArgv: [`--conditions=${poisonCondition}`],
  });
  let seen = -1;
  let seenAt = performance.now();
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<FuzzOutcome>((resolve, reject) => {
      worker.on("message", resolve).on("error", reject);
      worker.on("exit", (code) => reject(new Error(`exit code ${code}`)));
      timer = setInterval(() => {
        const now = progress.count();
        if (now !== seen) [seen, seenAt] = [now, performance.now()];
        else if (performance.now() - seenAt > (now === 0 ? start : hang))
          reject(new Error(`no end within ${(now === 0 ? start : hang) / 1_000} s`));
      }, 250);
    });
  } catch (err) {
    const sentence = `The thread ended: ${err instanceof Error ? err.message : String(err)}`;
    return { runs: progress.count(), finds: [{ input: progress.input(), sentence }], kept: [] };
  } finally {
    clearInterval(timer);
    await worker.terminate();
  }
}
