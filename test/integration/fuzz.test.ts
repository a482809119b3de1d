import { describe, expect, test } from "vitest";

import { formatEntry, readCorpus } from "../../scripts/fuzz/corpus-file.ts";
import { runTarget } from "../../scripts/fuzz/run-target.ts";
import { targets } from "../../scripts/fuzz/targets.ts";

/** For all targets together. The committed corpus, earlier finds included, runs first and has no limit. */
const secondsInAll = 8;
/** The same inputs each time, so a commit is judged by itself. The nightly row tries other seeds. */
const seed = 1;

describe.each(targets)("fuzzing $name", ({ name, promises }) => {
  test(promises, async () => {
    const corpus = (await readCorpus(name)).map(({ input }) => input);
    const outcome = await runTarget({ target: name, seconds: secondsInAll / targets.length, seed, corpus });
    const [find] = outcome.finds;
    expect(find, `seed ${seed}${find === undefined ? "" : `, ${corpusLine(find)}`}`).toBeUndefined();
    expect(outcome.runs).toBeGreaterThan(corpus.length);
  });
});

/** A find as a line for the corpus, or the beginning of a long one: add it there when the fault is fixed. */
function corpusLine({ input, sentence }: { readonly input: Uint8Array; readonly sentence: string }): string {
  return formatEntry({ input, find: sentence }).slice(0, 1_000);
}
