import { parseArgs } from "node:util";

import { tempDirectory } from "../../test/support/temp-directory.ts";
import { startWeir } from "../../test/support/weir-process.ts";
import { alignColumns } from "../align-columns.ts";
import { compiledModules } from "../processes/bench-process.ts";
import { say } from "../tools.ts";
import { judgeFlatness, type Flatness } from "./judge-flatness.ts";
import { deployMixed, runMixedLoad, type LoadOutcome } from "./mixed-load.ts";
import { ProcessSamples, type SampledProcess } from "./process-samples.ts";

const minute = 60_000;
const progressEvery = 30_000;
const megabyte = 1_000_000;
const shownFailures = 10;

/**
 * `npm run bench -- mixed [--minutes 8]`: a separate Weir under calls of every kind, deployments and changes of
 * replicas at once. Resolves with the exit code: 1 if a call failed or was lost, or if a process did not stay flat; 2
 * for bad minutes.
 */
export async function benchMixed(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: { minutes: { type: "string", default: "8" } } });
  const minutes = Number(values.minutes);
  if (!(minutes >= 1 && minutes <= 600)) {
    say(`Cannot run for "${values.minutes}" minutes: expected 1 to 600`);
    return 2;
  }
  const length = minutes * minute;
  await using data = await tempDirectory("bench-mixed");
  // Records expire as fast as they come; otherwise the broker would hold more and more of them by design.
  const flags = ["--edition=pro", "--max-inflight=8", "--call-record-ttl=1m", "--ack-wait=30s"];
  await using weir = await startWeir({ data: data.path, flags, environment: compiledModules });
  await deployMixed(weir);
  say(`mixed: ${minutes} min`);
  const samples = new ProcessSamples(weir);
  const begin = performance.now();
  const progress = setInterval(() => {
    say(`${Math.round((performance.now() - begin) / 1_000)} s: ${heldNow(samples.lasting)}`);
  }, progressEvery);
  let outcomes: readonly LoadOutcome[];
  try {
    const ended = AbortSignal.timeout(length);
    ended.addEventListener("abort", () => samples.close(), { once: true });
    outcomes = await runMixedLoad(weir, ended);
  } finally {
    clearInterval(progress);
    samples.close();
  }
  const judged = samples.lasting.map((each) => ({ ...each, flatness: judgeFlatness(each.samples, length) }));
  process.stdout.write(`${formatLoads(outcomes)}\n\n${formatProcesses(judged)}\n`);
  await weir.stop();
  const good = outcomes.every(({ failures }) => failures.length === 0);
  return good && judged.every(({ flatness }) => flatness.faults.length === 0) ? 0 : 1;
}

function heldNow(processes: readonly SampledProcess[]): string {
  const shown = processes.filter(({ name }) => name === "weir" || name === "broker");
  return shown
    .map(({ name, samples }) => {
      const last = samples.at(-1);
      return `${name} ${inMegabytes(last?.memory ?? 0)}, ${last?.descriptors ?? 0} descriptors`;
    })
    .join("; ");
}

function formatLoads(outcomes: readonly LoadOutcome[]): string {
  const lines = outcomes.map(({ what, done, failures }) => [what, String(done), String(failures.length)]);
  const failures = outcomes.flatMap(({ what, failures: all }) =>
    all.slice(0, shownFailures).map((failure) => `${what}: ${failure}`),
  );
  return [alignColumns([["load", "good", "kinds of failures"], ...lines]), ...failures].join("\n");
}

type Judged = SampledProcess & { readonly flatness: Flatness };

function formatProcesses(processes: readonly Judged[]): string {
  const lines = processes.map(({ name, flatness }) => [
    name,
    inMegabytes(flatness.memory),
    `${inMegabytes(flatness.rise)} (${(100 * flatness.risePerHour).toFixed(0)} % an hour)`,
    `${flatness.descriptors.early} → ${flatness.descriptors.late}`,
    flatness.faults.length === 0 ? "flat" : flatness.faults.join("; "),
  ]);
  return alignColumns([["process", "memory", "rise", "descriptors", "verdict"], ...lines]);
}

function inMegabytes(bytes: number): string {
  return `${(bytes / megabyte).toFixed(1)} MB`;
}
