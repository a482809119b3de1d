import { letterChange } from "../../core/history/letter-change.ts";
import type { HistoryRebuild } from "../../core/ports/history-rebuild.ts";
import type { LetterFacts } from "../../core/ports/letter-facts.ts";
import type { RecordChanges } from "../../core/ports/record-changes.ts";
import type { Log } from "../../process/log.ts";
import { pauseFor } from "../../process/pause-for.ts";
import type { HistoryWrites } from "../history-writes.ts";
import type { ReadState } from "../projection/read-state.ts";
import { lostFileGap } from "./lost-file-gap.ts";
import { rereadRecords } from "./reread-records.ts";

export interface RebuildHistoryParts {
  readonly rebuild: HistoryRebuild;
  readonly records: Pick<RecordChanges, "follow">;
  readonly letters: LetterFacts;
  readonly writes: HistoryWrites;
  readonly state: Pick<ReadState, "lagSeconds">;
  /** Age at which ended calls leave, milliseconds. */
  readonly age: number;
  readonly log: Log;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Milliseconds of a clock that is never set. */
  readonly monotonic: () => number;
}

/** Milliseconds between two parts that are copied, in which new records are stored. */
const breath = 5;
/** Milliseconds until what failed is tried again. */
const retryAfter = 1_000;
/** Milliseconds between two looks at how far the records are stored. */
const levelEvery = 200;

/** Stores what must be there before anything else is stored; tries until it is, or `stop` aborts. Never rejects. */
export async function seedRebuild({ rebuild, writes, log }: RebuildHistoryParts, stop: AbortSignal): Promise<void> {
  log.warn({ reason: rebuild.reason }, "the history is filled anew");
  await repeated(() => writes.run(() => rebuild.seed()), log, stop);
}

/**
 * Fills the new history: from all records, the calls of the former one that they do not show, and dead letters. Once it
 * has what was recorded until then it takes the former one's place. Resolves true then, and false when `stop` aborts
 * before; never rejects.
 */
export async function fillRebuild(parts: RebuildHistoryParts, stop: AbortSignal): Promise<boolean> {
  const { rebuild, writes, state, age, log, now, monotonic } = parts;
  const step = (act: () => Promise<unknown>): Promise<boolean> => repeated(act, log, stop);
  const store = async (): Promise<void> => {
    while (!stop.aborted && (await writes.run(() => rebuild.copySome()))) await pauseFor(breath, stop);
  };
  if (!(await step(() => reread(parts, stop))) || !(await step(store))) return false;
  const copied = monotonic();
  // Not "without lag": a machine at its limits always has some.
  while (!stop.aborted && state.lagSeconds * 1_000 > monotonic() - copied) await pauseFor(levelEvery, stop);
  if (!(await step(() => addLetters(parts, stop)))) return false;
  const isGap = rebuild.hasLosses || rebuild.position === undefined;
  const gap = lostFileGap(age, now());
  if (isGap && !(await step(() => writes.run((writer) => writer.apply({ changes: [], rollups: [], gap })))))
    return false;
  if (!(await step(() => writes.run(() => rebuild.finish())))) return false;
  log.info({ isWhole: !isGap }, "the history was filled anew");
  return true;
}

async function reread({ rebuild, records, writes }: RebuildHistoryParts, stop: AbortSignal): Promise<void> {
  // Without a position all records are read anyway.
  if (rebuild.position === undefined) return;
  for await (const changes of rereadRecords(records, rebuild.position, stop))
    await writes.run((writer) => writer.apply({ changes, rollups: [] }));
}

async function addLetters({ rebuild, letters, writes, log }: RebuildHistoryParts, stop: AbortSignal): Promise<void> {
  let added = 0;
  for await (const some of letters.all(stop))
    added += await writes.run(() => rebuild.addUnknown(some.flatMap((letter) => letterChange(letter) ?? [])));
  if (added > 0) log.info({ calls: added }, "calls are known by their dead letters alone");
}

/** Tries until `act` resolves; false when `stop` aborts before. */
async function repeated(act: () => Promise<unknown>, log: Log, stop: AbortSignal): Promise<boolean> {
  while (!stop.aborted) {
    try {
      await act();
      return !stop.aborted;
    } catch (err) {
      log.warn({ err }, "cannot fill the history anew");
      await pauseFor(retryAfter, stop);
    }
  }
  return false;
}
