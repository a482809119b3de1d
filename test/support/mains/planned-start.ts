import { flagsOf } from "../../../runtime/settings/read-settings.ts";
import type { Settings, Values } from "../../../runtime/settings/setting.ts";
import { startSettings } from "../../../runtime/settings/start-settings.ts";
import { readCommandLine } from "../../../runtime/process/command-line.ts";
import { readOrExit } from "../../../runtime/process/read-or-exit.ts";
import { readConfigFile } from "../../../runtime/process/settings.ts";
import { faultPlan, type FaultPlan, type FaultRule } from "../fault-plan.ts";

/** Reads the arguments of a test's main file: the flags of the real one, then the rules of its fault plan as JSON. */
export function plannedStart<S extends Settings>(table: S): { readonly plan: FaultPlan; readonly settings: Values<S> } {
  const rules: readonly FaultRule[] = JSON.parse(process.argv.at(-1) ?? "[]");
  const line = { name: "faulty", about: "", version: "0", flags: flagsOf(table) };
  const typed = readCommandLine(line, process.argv.slice(2, -1));
  const { settings } = readOrExit(() =>
    startSettings(table, { typed, environment: {}, readFile: readConfigFile, rules: [], sharedFile: true }),
  );
  return { plan: faultPlan(rules), settings };
}
