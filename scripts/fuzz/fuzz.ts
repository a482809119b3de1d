import { setImmediate as turn } from "node:timers/promises";

import type { Coverage } from "./coverage.ts";
import type { FuzzTarget } from "./fuzz-target.ts";
import { mutate } from "./mutate.ts";
import { seededRandom } from "../random.ts";

/** An input for which a target's promise does not hold. */
export interface Find {
  readonly input: Uint8Array;
  readonly sentence: string;
}

/** The result of a run of one target. */
export interface FuzzOutcome {
  readonly runs: number;
  readonly finds: readonly Find[];
  /** Inputs that reached new code. */
  readonly kept: readonly Uint8Array[];
}

export interface FuzzOptions {
  readonly seconds: number;
  readonly seed: number;
  /** Inputs besides the target's own seeds. */
  readonly corpus: readonly Uint8Array[];
  readonly coverage: Coverage;
  /** Called with every input before it runs. */
  readonly onRun: (input: Uint8Array) => void;
  /** How many different finds are enough; five when absent. */
  readonly mostFinds?: number;
}

/** Milliseconds between two checks of the coverage: a check costs about one. */
const batchTime = 25;
const shrinkTime = 2_000;
/** Longest run of an input that joins the corpus, milliseconds. */
const longestTime = 250;

/**
 * Runs the whole corpus, then mutants for `seconds` or until there are enough finds; mutants with new code join the
 * corpus.
 */
export async function fuzz(target: FuzzTarget, options: FuzzOptions): Promise<FuzzOutcome> {
  const { coverage, seconds, mostFinds = 5 } = options;
  const random = seededRandom(options.seed);
  const words = target.words.map((word) => Buffer.from(word, "latin1"));
  const [first, ...more] = target.seeds.map((seed) => Buffer.from(seed, "latin1"));
  const corpus: [Uint8Array, ...Uint8Array[]] = [first ?? new Uint8Array(0), ...more, ...options.corpus];
  const kept: Uint8Array[] = [];
  const finds = new Map<string, Find>();
  let runs = 0;

  const attempt = async (input: Uint8Array): Promise<string | undefined> => {
    runs += 1;
    options.onRun(input);
    return runInput(target, input);
  };
  const judge = async (input: Uint8Array): Promise<void> => {
    const sentence = await attempt(input);
    if (sentence === undefined || finds.has(kindOf(sentence))) return;
    const shorter = await shrink(input, async (less) => sameKind(await attempt(less), sentence));
    finds.set(kindOf(sentence), { input: shorter, sentence: (await attempt(shorter)) ?? sentence });
  };
  /** Halves `inputs` until only those are left that reach new code by themselves. */
  const keepNew = async (inputs: readonly Uint8Array[]): Promise<void> => {
    const startedAt = performance.now();
    for (const input of inputs) await attempt(input);
    const time = performance.now() - startedAt;
    const covered = coverage.take();
    if (!coverage.isNew(covered)) return;
    const [only] = inputs;
    if (inputs.length === 1 && only !== undefined) {
      coverage.add(covered);
      // A slow one would have slow children.
      if (time > longestTime) return;
      corpus.push(only);
      kept.push(only);
      return;
    }
    const middle = Math.ceil(inputs.length / 2);
    await keepNew(inputs.slice(0, middle));
    await keepNew(inputs.slice(middle));
  };

  for (const input of corpus) if (finds.size < mostFinds) await judge(input);
  coverage.add(coverage.take());
  const deadline = performance.now() + seconds * 1_000;
  const isOver = (): boolean => finds.size >= mostFinds || performance.now() >= deadline;
  while (!isOver()) {
    const batch: Uint8Array[] = [];
    const batchEnd = performance.now() + batchTime;
    do {
      const input = mutate({ corpus, words, maxBytes: target.maxBytes }, random);
      batch.push(input);
      await judge(input);
    } while (performance.now() < batchEnd);
    // Asynchronous failures of a run surface now.
    await turn();
    const together = coverage.take();
    if (!coverage.isNew(together)) continue;
    await keepNew(batch);
    coverage.add(together);
  }
  return { runs, finds: [...finds.values()], kept };
}

/** What is wrong with `input`, or undefined. */
export async function runInput(target: FuzzTarget, input: Uint8Array): Promise<string | undefined> {
  try {
    const running = target.run(input);
    if (running !== undefined) await running;
    return undefined;
  } catch (err) {
    return err instanceof Error ? `${err.name}: ${err.message}` : String(err);
  }
}

/** Finds of one kind differ in numbers and quoted texts only. */
export function kindOf(sentence: string): string {
  return sentence.replaceAll(/"(?:[^"\\]|\\.)*"|\d+/gs, "#").slice(0, 80);
}

function sameKind(sentence: string | undefined, other: string): boolean {
  return sentence !== undefined && kindOf(sentence) === kindOf(other);
}

/** The shortest input, found within two seconds, for which `holds` is still true. */
async function shrink(input: Uint8Array, holds: (input: Uint8Array) => Promise<boolean>): Promise<Uint8Array> {
  const deadline = performance.now() + shrinkTime;
  let shortest = input;
  for (let size = Math.ceil(input.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < shortest.length && performance.now() < deadline;) {
      const shorter = Buffer.concat([shortest.subarray(0, at), shortest.subarray(at + size)]);
      if (await holds(shorter)) shortest = shorter;
      else at += size;
    }
  }
  return shortest;
}
