import { alignColumns } from "../align-columns.ts";
import { spreadOf } from "../interleave.ts";
import { say } from "../tools.ts";
import { openCommand, type BenchCommand } from "./bench-command.ts";
import { listOfMany } from "./list-of-many.ts";
import { saveToReply } from "./save-to-reply.ts";

interface Figure {
  readonly what: string;
  readonly value: number;
  readonly unit: "ms" | "MB";
  readonly bar: number;
}

const runs = 11;
const manyFunctions = 10_000;

/**
 * `npm run bench -- cli`: how long the packed command takes, each figure against its bar (`docs/cli.md`). Resolves with
 * the exit code: 1 if one is beyond its bar.
 */
export async function benchCli(): Promise<number> {
  await using command = await openCommand();
  const figures: Figure[] = [];
  const measure = async (what: string, bar: number, args: readonly string[]): Promise<void> => {
    say(`cli: ${what}, ${runs} times`);
    figures.push({ what, bar, unit: "ms", value: await medianOf(command, args) });
  };
  await measure("weir --version", 90, ["--version"]);
  await measure("weir list, one function", 200, ["list"]);
  const many = await listOfMany(command, manyFunctions);
  figures.push({ what: `weir list, ${manyFunctions} functions`, bar: 1_500, unit: "ms", value: many.time });
  figures.push({ what: "memory of that", bar: 150, unit: "MB", value: many.memory });
  await measure("weir up without a change", 1_000, ["up"]);
  say("cli: weir dev, from a save to the new reply");
  figures.push({ what: "weir dev, save to new reply", bar: 1_000, unit: "ms", value: await saveToReply(command) });

  const lines = figures.map(({ what, value, unit, bar }) => [
    what,
    `${value.toFixed(0)} ${unit}`,
    `≤ ${bar} ${unit}`,
    value <= bar ? "good" : "beyond the bar",
  ]);
  process.stdout.write(`${alignColumns([["what", "median", "bar", "verdict"], ...lines])}\n`);
  return figures.every(({ value, bar }) => value <= bar) ? 0 : 1;
}

/** Milliseconds from the start of the process to its end; the first run warms up. */
async function medianOf(command: BenchCommand, args: readonly string[]): Promise<number> {
  const times: number[] = [];
  for (let run = 0; run <= runs; run += 1) {
    const began = performance.now();
    await command.run(args);
    if (run > 0) times.push(performance.now() - began);
  }
  return spreadOf(times).median;
}
