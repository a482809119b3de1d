import { setTimeout as pause } from "node:timers/promises";

import type { FunctionRef } from "../../core/functions/function-ref.ts";
import type { KeptRequests } from "../../core/ports/kept-requests.ts";
import { Lifecycle } from "../../process/lifecycle.ts";
import type { Log } from "../../process/log.ts";
import { erasedText, eraseFunction, type ErasedFunction } from "../erase/erase-function.ts";
import { parseErased } from "../erase/parse-erased.ts";
import { HistoryWrites } from "../history-writes.ts";
import type { OpenedStores } from "../open-stores.ts";
import { apiPlace, type HistoryCommands, type HistorySettings } from "../settings.ts";
import { askRunning } from "./ask-running.ts";

type FunctionRequests = Pick<KeptRequests, "removeFunction">;

export interface ObeyCommandParts {
  readonly settings: Parameters<typeof apiPlace>[0] & Pick<HistorySettings, "functionNamespace"> & HistoryCommands;
  readonly openIn: (lifecycle: Lifecycle) => Promise<OpenedStores>;
  readonly connect: (lifecycle: Lifecycle) => { readonly requests: FunctionRequests };
  /** Runs the history process. */
  readonly serve: () => Promise<void>;
  readonly log: Log;
}

/** Milliseconds in which the broker has to be there, and between two attempts. */
const broker = { within: 5_000, every: 250 };

/**
 * Does what `--erase` or `--rebuild` say, by the process that runs if there is one, and prints what was done; else
 * serves. `--rebuild` serves, too, where no process runs.
 */
export async function obeyCommand(parts: ObeyCommandParts): Promise<void> {
  const { erase, rebuild } = parts.settings;
  try {
    if (erase !== undefined) return print(await eraseText(parts, erase));
    if (rebuild && (await isRebuilt(parts)))
      return print("The history is filled anew. What was there before answers until it is level");
  } catch (err) {
    process.stderr.write(`${err instanceof Error ? err.message : String(err)}\n`);
    process.exitCode = 1;
    return;
  }
  await parts.serve();
}

async function eraseText(parts: ObeyCommandParts, text: string): Promise<string> {
  const ref = parseErased(text, parts.settings.functionNamespace);
  const asked = await askRunning(apiPlace(parts.settings), "erase", ref);
  return erasedText(ref, asked === undefined ? await eraseHere(parts, ref) : (asked.result as ErasedFunction));
}

async function eraseHere({ openIn, connect, log }: ObeyCommandParts, ref: FunctionRef): Promise<ErasedFunction> {
  const lifecycle = new Lifecycle(log);
  try {
    const { writer, logs, rebuild } = await openIn(lifecycle);
    const { requests } = connect(lifecycle);
    const parts = { writer, logs, writes: new HistoryWrites(writer), isRebuilding: rebuild !== undefined };
    return await eraseFunction({ ...parts, requests: patient(requests) }, ref);
  } finally {
    await lifecycle.close();
  }
}

/** Whether a process that runs does it; one that is started does so first. */
async function isRebuilt({ settings, openIn, log }: ObeyCommandParts): Promise<boolean> {
  if ((await askRunning(apiPlace(settings), "rebuild")) !== undefined) return true;
  const lifecycle = new Lifecycle(log);
  try {
    await (await openIn(lifecycle)).requestRebuild();
  } finally {
    await lifecycle.close();
  }
  return false;
}

/** The connection to the broker has just been begun. */
function patient(requests: FunctionRequests): FunctionRequests {
  return {
    removeFunction: async (ref) => {
      for (const deadline = performance.now() + broker.within; ; await pause(broker.every)) {
        try {
          return await requests.removeFunction(ref);
        } catch (err) {
          if (performance.now() >= deadline) throw err;
        }
      }
    },
  };
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
