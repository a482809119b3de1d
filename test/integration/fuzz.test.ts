import { describe, expect, test } from "vitest";

import { formatEntry, readCorpus } from "../../scripts/fuzz/corpus-file.ts";
import { runTarget } from "../../scripts/fuzz/run-target.ts";
import { targets } from "../../scripts/fuzz/targets.ts";

/** Of all targets together; what is committed, finds of before among it, runs first and takes what it takes. */
const secondsInAll = 20;
/** The same input each time: a commit is judged by itself. Finds of other seeds are the nightly row's. */
const seed = 1;

describe.each(targets)("fuzzing $name", ({ name, promises }) => {
  test(promises, async () => {
    const corpus = (await readCorpus(name)).map(({ input }) => input);
    const outcome = await runTarget({ target: name, seconds: secondsInAll / targets.length, seed, corpus });
    const [find] = outcome.finds;
    expect(find, `seed ${seed}${find === undefined ? "" : `, ${told(find)}`}`).toBeUndefined();
    expect(outcome.runs).toBeGreaterThan(corpus.length);
  });
});

/** A find as a line of the corpus, or the beginning of a long one: put it there when it is mended. */
function told({ input, sentence }: { readonly input: Uint8Array; readonly sentence: string }): string {
  return formatEntry({ input, find: sentence }).slice(0, 1_000);
}
