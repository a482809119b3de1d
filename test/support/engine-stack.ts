import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { copyFile, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";

import { parseYaml } from "../../runtime/api/yaml-document.ts";
import { environment } from "../../runtime/process/settings.ts";
import { clusterBinaries } from "../../scripts/cluster/places.ts";
import { findTool } from "../../scripts/debian-tool.ts";
import { eventually } from "./eventually.ts";
import { killAtExit } from "./kill-at-exit.ts";
import { tempDirectory } from "./temp-directory.ts";

/** What the engine did, or would do, to one resource. */
export interface PulumiStep {
  /** `create`, `update`, `delete`, `replace`, `create-replacement`, `delete-replaced`, `same`, `refresh` … */
  readonly op: string;
  readonly type: string;
  readonly name: string;
  readonly urn: string;
  /** Names of the inputs that changed. */
  readonly diffs: readonly string[];
}

/** A command that has ended. */
export interface PulumiRun {
  readonly code: number;
  /** Its stdout and stderr. */
  readonly output: string;
  readonly steps: readonly PulumiStep[];
  /** The steps that change something, sorted: `update Deployment gateway`. */
  readonly changes: readonly string[];
}

/** A resource in the stack's state. */
export interface StoredResource {
  readonly urn: string;
  readonly type: string;
  readonly custom: boolean;
  readonly provider?: string;
  readonly parent?: string;
  readonly retainOnDelete?: boolean;
  readonly outputs?: Readonly<Record<string, unknown>>;
}

/** A stack of a program, run by the real Pulumi command in its own directories. */
export interface PulumiStack extends AsyncDisposable {
  /** Sets values of the program's configuration: `weir:edition`; undefined removes one. */
  configure(values: Readonly<Record<string, unknown>>): Promise<void>;
  /** The program's configuration; secrets in it are encrypted. */
  configuration(): Promise<Readonly<Record<string, unknown>>>;
  /** As `configure`, for one value that is stored encrypted; the key may be a path into a group. */
  configureSecret(key: string, value: string): Promise<void>;
  /** Resolves even if the command fails. */
  run(command: PulumiCommand, ...args: readonly string[]): Promise<PulumiRun>;
  /** The same, but rejects with the output if the command fails. */
  expect(command: PulumiCommand, ...args: readonly string[]): Promise<PulumiRun>;
  /**
   * Starts the command and sends SIGKILL to it and its children once `when` holds; then removes its lock, as people do,
   * with `pulumi cancel`. Rejects if the command ended by itself, or after `within` milliseconds.
   */
  kill(
    command: PulumiCommand,
    until: { readonly when: () => Promise<boolean>; readonly within: number },
  ): Promise<void>;
  /** Decrypted. */
  outputs(): Promise<Readonly<Record<string, unknown>>>;
  resources(): Promise<readonly StoredResource[]>;
  /** Content of the files of state and configuration, as it is on disk. */
  files(): Promise<string>;
  /** Removes all directories; the resources of the stack stay. */
  close(): Promise<void>;
}

/** Commands that process all resources. */
export type PulumiCommand = "preview" | "up" | "refresh" | "destroy";

const standIns = join(import.meta.dirname, "pulumi");
const repository = join(import.meta.dirname, "..", "..");
const timeout = 600_000;
const unchanging: ReadonlySet<string> = new Set(["same", "refresh", "read"]);

/** Path of `pulumi`: built by `npm run cluster -- build --pulumi`, else installed on this machine, else undefined. */
export function pulumiCommand(): string | undefined {
  const built = join(clusterBinaries(), "pulumi");
  return existsSync(built) ? built : findTool("pulumi");
}

/**
 * Opens a new stack of the project in `directory`. Nothing is written there: the engine works on links to its files.
 * If there is a sample called `stack`, it is copied.
 * @throws Error if there is no command, or it cannot be run
 */
export async function openPulumiStack(directory: string, stack = "test"): Promise<PulumiStack> {
  const command = pulumiCommand();
  if (command === undefined) throw new Error(`Cannot run Pulumi: ${missingPulumi}`);
  const place = await tempDirectory("pulumi");
  const [project, state, home] = ["project", "state", "home"].map((name) => join(place.path, name)) as [
    string,
    string,
    string,
  ];
  const env = {
    ...pulumiVariables(home),
    PULUMI_BACKEND_URL: `file://${state}`,
    PULUMI_CONFIG_PASSPHRASE: "of the tests",
    // Enables the engine's event log.
    PULUMI_DEBUG_COMMANDS: "true",
  };
  const call = (args: readonly string[]): Promise<{ readonly code: number; readonly stdout: string; output: string }> =>
    new Promise((resolve, reject) => {
      const all = ["--non-interactive", "--color=never", ...args];
      const options = { cwd: project, env, timeout, killSignal: "SIGKILL" as const, maxBuffer: 256 * 1_024 * 1_024 };
      const child = execFile(command, all, options, (err, stdout, stderr) => {
        const output = `${stdout}${stderr}`;
        if (err !== null && typeof err.code !== "number") {
          reject(new Error(`pulumi ${args.join(" ")}: ${err.message}\n${output}`, { cause: err }));
        } else resolve({ code: child.exitCode ?? 1, stdout, output });
      });
    });
  const must = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, output } = await call(args);
    if (code !== 0) throw new Error(`pulumi ${args[0] ?? ""} ended with ${code}:\n${output}`);
    return stdout;
  };
  const run: PulumiStack["run"] = async (name, ...args) => {
    const log = join(place.path, "events");
    await rm(log, { force: true });
    const yes = name === "preview" ? [] : ["--yes", "--skip-preview"];
    const { code, output } = await call([name, ...yes, "--suppress-outputs", `--event-log=${log}`, ...args]);
    const steps = existsSync(log) ? stepsOf(await readFile(log, "utf8")) : [];
    const changes = steps
      .filter(({ op, type }) => !unchanging.has(op) && type !== "pulumi:pulumi:Stack")
      .filter(({ type, name: resource }) => !(type.startsWith("pulumi:providers:") && resource.startsWith("default")))
      .map(({ op, type, name: resource }) => `${op} ${type.split(":").at(-1) ?? ""} ${resource}`)
      .sort();
    return { code, output, steps, changes };
  };

  const configuration = join(project, `Pulumi.${stack}.yaml`);
  const readConfiguration = async () =>
    parseYaml(await readFile(configuration)) as { readonly config?: Readonly<Record<string, unknown>> };

  try {
    for (const each of [project, state, home]) await mkdir(each);
    await layOut(directory, project, stack);
    await must("stack", "init", stack, "--secrets-provider=passphrase");
  } catch (err) {
    await place.remove();
    throw err;
  }
  return {
    configure: async (values) => {
      const file = await readConfiguration();
      // JSON leaves out what is undefined.
      await writeFile(configuration, JSON.stringify({ ...file, config: { ...file.config, ...values } }));
    },
    configuration: async () => (await readConfiguration()).config ?? {},
    configureSecret: async (key, value) => {
      await must("config", "set", "--secret", "--path", key, "--", value);
    },
    run,
    expect: async (name, ...args) => {
      const done = await run(name, ...args);
      if (done.code !== 0) throw new Error(`pulumi ${name} ended with ${done.code}:\n${done.output.slice(-20_000)}`);
      return done;
    },
    kill: async (name, { when, within }) => {
      const args = ["--non-interactive", "--color=never", name, "--yes", "--skip-preview"];
      // Its own process group: its children are killed with it, or notice that it is gone.
      const child = spawn(command, args, { cwd: project, env, detached: true, stdio: "ignore" });
      killAtExit(child, { group: true });
      const ended = once(child, "exit");
      try {
        const over = ended.then(() => Promise.reject(new Error(`pulumi ${name} ended before it was killed`)));
        await Promise.race([eventually(when, { within, what: `the moment to kill pulumi ${name}`, every: 200 }), over]);
      } finally {
        if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      }
      await ended;
      await must("cancel", "--yes", stack);
    },
    outputs: async () =>
      JSON.parse(await must("stack", "output", "--json", "--show-secrets")) as Record<string, unknown>,
    resources: async () => {
      const { deployment } = JSON.parse(await must("stack", "export")) as {
        readonly deployment: { readonly resources?: readonly StoredResource[] };
      };
      return deployment.resources ?? [];
    },
    files: async () => {
      const found = await readdir(state, { recursive: true, withFileTypes: true });
      const paths = found.filter((each) => each.isFile()).map((each) => join(each.parentPath, each.name));
      const texts = await Promise.all([...paths, configuration].map((path) => readFile(path)));
      return texts.join("\n");
    },
    close: () => place.remove(),
    [Symbol.asyncDispose]: () => place.remove(),
  };
}

/**
 * Environment variables that hide this machine's own Pulumi and Kubernetes from the engine, and put the stand-ins
 * before any plugin. `home` is the user's home directory.
 */
export function pulumiVariables(home: string): Readonly<Record<string, string>> {
  const { NO_PROXY = "", no_proxy = NO_PROXY, PATH = "", TMPDIR, NODE_COMPILE_CACHE } = environment();
  return {
    PATH: [standIns, dirname(process.execPath), clusterBinaries(), PATH].join(delimiter),
    HOME: home,
    NO_PROXY,
    no_proxy,
    // The engine starts a Node for each plugin and each command.
    NODE_COMPILE_CACHE: NODE_COMPILE_CACHE ?? join(home, "compiled"),
    ...(TMPDIR !== undefined && { TMPDIR }),
    PULUMI_HOME: home,
    PULUMI_SKIP_UPDATE_CHECK: "true",
    PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
    // Nobody goes back to an earlier state.
    PULUMI_DIY_BACKEND_DISABLE_CHECKPOINT_BACKUPS: "true",
    // A test machine has more memory to spare than processors.
    GOGC: "400",
  };
}

/** File name of a stack's sample, which people copy to their own `Pulumi.<stack>.yaml`. */
export function sampleStack(stack: string): string {
  return `Pulumi.${stack}.sample.yaml`;
}

/** How to get a missing `pulumi`. */
export const missingPulumi = 'the command pulumi is not here; "npm run cluster -- build --pulumi" makes it';

async function layOut(directory: string, project: string, stack: string): Promise<void> {
  const modules = "node_modules";
  if (!existsSync(join(directory, modules))) await symlink(join(repository, modules), join(project, modules));
  await linkProject(directory, project);
  const sample = join(directory, sampleStack(stack));
  if (existsSync(sample)) await copyFile(sample, join(project, `Pulumi.${stack}.yaml`));
}

/** Fills `project` with links to the files of a program, and copies of its project file and samples. */
export async function linkProject(directory: string, project: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (!/^Pulumi\..*yaml$/.test(name)) await symlink(join(directory, name), join(project, name));
    else if (name === "Pulumi.yaml" || name.endsWith(".sample.yaml"))
      await copyFile(join(directory, name), join(project, name));
  }
}

interface EngineEvent {
  readonly resourcePreEvent?: {
    readonly metadata: {
      readonly op: string;
      readonly urn: string;
      readonly type: string;
      readonly diffs?: readonly string[] | null;
    };
  };
}

function stepsOf(log: string): readonly PulumiStep[] {
  return log
    .split("\n")
    .filter((line) => line !== "")
    .flatMap((line) => {
      const { resourcePreEvent } = JSON.parse(line) as EngineEvent;
      if (resourcePreEvent === undefined) return [];
      const { op, urn, type, diffs } = resourcePreEvent.metadata;
      return [{ op, urn, type, name: urn.split("::").at(-1) ?? "", diffs: diffs ?? [] }];
    });
}
