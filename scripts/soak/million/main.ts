import { writeFile } from "node:fs/promises";

import { flagsOf, readSettings } from "../../../runtime/settings/read-settings.ts";
import { duration, text, whole } from "../../../runtime/settings/setting.ts";
import { readCommandLine } from "../../../runtime/process/command-line.ts";
import { million } from "./million.ts";
import { formatReport } from "./report.ts";

const second = 1_000;

/** Flags of `npm run test:million -- …`. */
const table = {
  count: whole("count", {
    fallback: "1000000",
    min: 1,
    max: 100_000_000,
    unit: "calls",
    about: "Calls to be accepted",
  }),
  longest: duration("for", { fallback: "30m", min: second, about: "Longest time in which calls are sent" }),
  killEvery: duration("kill_every", { fallback: "10s", min: second, about: "Time between two kills" }),
  seed: whole("seed", { fallback: "0", unit: "", about: "Of the choice of kills; 0 = any" }),
  out: text("out", { fallback: "million-report.json", about: "File for the report" }),
};

const about = "Many calls through one queue while its workers and its broker are killed.";
const line = { name: "npm run test:million --", about, version: "1", flags: flagsOf(table) };
const settings = readSettings(table, { flags: readCommandLine(line, process.argv.slice(2)).values });

const interrupt = new AbortController();
for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => interrupt.abort());
const result = await million({
  ...settings,
  seed: settings.seed === 0 ? Math.floor(Math.random() * 2 ** 32) : settings.seed,
  signal: interrupt.signal,
  say: (sentence) => console.log(sentence),
});
await writeFile(settings.out, `${JSON.stringify(result, undefined, 2)}\n`);
console.log(formatReport(result));
process.exitCode = result.violations.length === 0 ? 0 : 1;
