import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";

import { addToCorpus, formatEntry, readCorpus } from "./corpus-file.ts";
import type { FuzzOutcome } from "./fuzz.ts";
import { runTarget } from "./run-target.ts";
import { targetNamed, targets } from "./targets.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: "string", default: "600" },
    seed: { type: "string" },
    /** A file whose bytes are the only input. */
    replay: { type: "string" },
    /** Adds inputs that reached new code to the committed ones. */
    keep: { type: "boolean", default: false },
  },
});
const seconds = Number(values.seconds);
const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 32) : Number(values.seed);
if (!(seconds > 0) || !Number.isInteger(seed)) throw new Error("Cannot fuzz: --seconds and --seed are numbers");
const chosen = positionals.length === 0 ? targets : positionals.map(targetNamed);
const replayed = values.replay === undefined ? undefined : await readFile(values.replay);

let finds = 0;
for (const { name, promises } of chosen) {
  console.log(`${name}: ${promises}`);
  const committed = await readCorpus(name);
  const corpus = committed.map(({ input }) => input);
  const replay = replayed === undefined ? {} : { replay: [replayed] };
  const outcome = await runTarget({ target: name, seconds, seed, corpus, ...replay });
  console.log(
    `  ${outcome.runs} runs, ${outcome.kept.length} reached new code, ${outcome.finds.length} finds, seed ${seed}`,
  );
  finds += outcome.finds.length;
  await report(name, outcome);
}
process.exitCode = finds > 0 ? 1 : 0;

/** Finds are added to the committed inputs: `npm test` fails until they are fixed, and prevents regressions. */
async function report(name: string, { finds: found, kept }: FuzzOutcome): Promise<void> {
  for (const { sentence, input } of found) console.log(`  ${sentence}\n  ${formatEntry({ input }).slice(0, 400)}`);
  if (replayed !== undefined) return;
  await addToCorpus(
    name,
    found.map(({ sentence, input }) => ({ find: sentence.split("\n", 1)[0] ?? "", input })),
  );
  if (found.length > 0) {
    console.log(
      `  Added to test/fuzz-corpus/${name}.jsonl; all of that file again: npx vitest run --project integration fuzz`,
    );
    console.log(`  The same run again: npm run fuzz -- ${name} --seconds ${seconds} --seed ${seed}`);
  }
  const short = kept.filter((input) => input.length <= 512);
  if (values.keep)
    await addToCorpus(
      name,
      short.map((input) => ({ input })),
    );
}
