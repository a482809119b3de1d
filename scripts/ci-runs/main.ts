import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { appendFile, chmod, mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

import { Command } from "commander";

import { environment } from "../../runtime/process/settings.ts";
import { positive } from "../whole-number.ts";

/** One run of `.ci/run` in a fresh clone of a commit. */
interface CiRun {
  readonly commit: string;
  readonly loaded: boolean;
  readonly date: string;
  readonly seconds: number;
  readonly code: number | null;
  /** The line of sums. */
  readonly last: string;
}

interface CommandOptions {
  readonly times: number;
  readonly loaded: boolean;
  readonly results: string;
}

/** Ends by itself after two hours or with its parent, in case it is not killed. */
const busyLoop =
  "const end = Date.now() + 7_200_000, parent = process.ppid; while (Date.now() < end && process.ppid === parent);";
let interrupted = false;
process.on("SIGINT", () => {
  // The run receives it, too; its clone is removed before this process ends.
  interrupted = true;
});

const root = join(import.meta.dirname, "..", "..");
const { XDG_CACHE_HOME = join(homedir(), ".cache") } = environment();
const git = (...args: readonly string[]): Promise<string> =>
  promisify(execFile)("git", args, { cwd: root }).then(({ stdout }) => stdout.trim());

const command = new Command("npm run ci:runs --")
  .description(
    "Runs .ci/run in fresh clones of this commit, one after the other, until there are --times runs of it, and prints how long each took. Runs are recorded by commit: started again, it continues.",
  )
  .option("--times <number>", "how many runs there should be", positive, 3)
  .option("--loaded", "while another process keeps one core busy", false)
  .option("--results <file>", "where runs are recorded", join(XDG_CACHE_HOME, "weir", "ci-runs.jsonl"))
  .helpOption("--help", "show this")
  .action(async ({ times, loaded, results }: CommandOptions) => {
    const commit = await git("rev-parse", "HEAD");
    const known = (await readRuns(results)).filter((run) => run.commit === commit && run.loaded === loaded);
    for (const run of known) console.log(line(run));
    for (let ran = known.length; ran < times; ran += 1) {
      const run = await runOnce(commit, loaded);
      if (interrupted) break;
      await mkdir(dirname(results), { recursive: true });
      await appendFile(results, `${JSON.stringify(run)}\n`);
      known.push(run);
      console.log(line(run));
    }
    process.exitCode = interrupted ? 130 : known.every(({ code }) => code === 0) ? 0 : 1;
  });

await command.parseAsync();

/** Its output goes to this terminal. */
async function runOnce(commit: string, loaded: boolean): Promise<CiRun> {
  const clone = await mkdtemp(join(tmpdir(), "weir-ci-run-"));
  let load: ChildProcess | undefined;
  try {
    // Readable as a person's checkout is: functions run as separate users, and read it.
    await chmod(clone, 0o755);
    await git("clone", "--quiet", root, clone);
    await promisify(execFile)("git", ["checkout", "--quiet", commit], { cwd: clone });
    // In a separate session: the kernel divides the cores among sessions, so in ours it would only share ours.
    if (loaded) load = spawn(process.execPath, ["--eval", busyLoop], { stdio: "ignore", detached: true });
    const date = new Date().toISOString();
    const began = performance.now();
    const child = spawn(join(clone, ".ci", "run"), { cwd: clone, stdio: ["ignore", "pipe", "inherit"] });
    let last = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      process.stdout.write(text);
      last = `${last}${text}`.slice(-1_000);
    });
    const [code] = (await once(child, "close")) as [number | null];
    const seconds = Math.round((performance.now() - began) / 1_000);
    return { commit, loaded, date, seconds, code, last: last.trim().split("\n").at(-1) ?? "" };
  } finally {
    load?.kill("SIGKILL");
    await rm(clone, { recursive: true, force: true });
  }
}

async function readRuns(file: string): Promise<CiRun[]> {
  const text = await readFile(file, "utf8").catch(() => "");
  return text
    .split("\n")
    .filter((each) => each !== "")
    .map((each) => JSON.parse(each) as CiRun);
}

function line({ date, loaded, seconds, code, last }: CiRun): string {
  const took = `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${date}${loaded ? ", one core busy" : ""}: ${took}, ended with ${code}: ${last}`;
}
