import { writeFile } from "node:fs/promises";

import { flagsOf, readSettings } from "../../runtime/settings/read-settings.ts";
import { text, whole } from "../../runtime/settings/setting.ts";
import { readCommandLine } from "../../runtime/process/command-line.ts";
import { repeatFaultFiles } from "./fault-files.ts";
import { formatReport, type SoakReport } from "./report.ts";
import { soak } from "./soak.ts";

/** Flags of `npm run test:soak -- …`. */
const table = {
  minutes: whole("minutes", { fallback: "60", min: 1, max: 1_440, unit: "minutes", about: "Length of the load" }),
  rate: whole("rate", { fallback: "50", min: 1, max: 2_000, unit: "calls a second", about: "Calls that are queued" }),
  faultEvery: whole("fault_every", {
    fallback: "60",
    min: 5,
    max: 3_600,
    unit: "seconds",
    about: "Time between two faults",
  }),
  repetitions: whole("repetitions", {
    fallback: "10",
    max: 1_000,
    unit: "times",
    about: "How often the fault files run before; 0 = not",
  }),
  seed: whole("seed", { fallback: "0", unit: "", about: "Of the choice of faults; 0 = any" }),
  out: text("out", { fallback: "soak-report.json", about: "File for the report" }),
};

const line = { name: "npm run test:soak --", about: "Many calls, random faults.", version: "1", flags: flagsOf(table) };
const settings = readSettings(table, { flags: readCommandLine(line, process.argv.slice(2)).values });

const files = await repeatFaultFiles(settings.repetitions);
const load = await soak({
  ...settings,
  seed: settings.seed === 0 ? Math.floor(Math.random() * 2 ** 32) : settings.seed,
  say: (sentence) => console.log(sentence),
});
const report: SoakReport = { files, load };
await writeFile(settings.out, `${JSON.stringify(report, undefined, 2)}\n`);
console.log(formatReport(report));
process.exitCode = load.violations.length === 0 && files.failed === 0 ? 0 : 1;
