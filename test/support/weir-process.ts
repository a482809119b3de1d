import { spawn, type ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { Agent, fetch as undiciFetch } from "undici";

import { environment } from "../../runtime/process/settings.ts";
import { eventually } from "./eventually.ts";
import { platformProgram } from "./platform-programs.ts";
import { descendants, endProcess, isAlive, type KnownProcess } from "./process-tree.ts";

export interface WeirOptions {
  /** The data directory; the caller makes and removes it. */
  readonly data: string;
  /** Flags beside `--data`; by default `--port` and `--admin-port` are any free ports, there is no console, and `--provider` is `local`. */
  readonly flags?: readonly string[];
  /** `npm` = `npm start -- …` as a person types it; `node` (default) = the host's main file. */
  readonly through?: "npm" | "node";
  /** A clone of the repository to start it in, instead of this one. */
  readonly clone?: string;
  /** Main file instead of the host's, e.g. a test's own that injects faults; not with `npm`. */
  readonly main?: string;
  /** Added to the environment of this process. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Id of a process in whose mount namespace it runs and finds `data`. */
  readonly mountsOf?: number | undefined;
  /** Milliseconds until it serves (60 000): a first start may have to download its broker. */
  readonly within?: number;
}

/** How a process ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A Weir that serves, with all processes that it started. */
export interface WeirProcess extends AsyncDisposable {
  readonly pid: number;
  /** Without a path. */
  readonly url: string;
  readonly adminUrl: string;
  /** With the path of its first page; undefined = there is no console. */
  readonly consoleUrl: string | undefined;
  readonly user: string;
  readonly password: string;
  /** The value of an `Authorization` header. */
  readonly authorization: string;
  readonly data: string;
  /** Its stdout and stderr so far. */
  output(): string;
  /** How it ended; undefined while it runs. */
  exit(): Exit | undefined;
  /** Its descendant processes, including brokers and functions. */
  below(): readonly KnownProcess[];
  /** Sends Ctrl-C. Rejects if the exit code is not 0, it takes longer than `within` (60 000) or a process is left. */
  stop(within?: number): Promise<void>;
  /** Sends SIGKILL to the host (and npm, if started through it); its broker stays, as after a crash, until `close`. */
  kill(): Promise<void>;
  /** Kills all its remaining processes; safe to call at any time. */
  close(): Promise<void>;
}

const repository = fileURLToPath(new URL("../..", import.meta.url));

/**
 * Starts Weir and resolves once its gateway is healthy.
 * @throws Error with its output if it ends or does not serve in time; no process is left then
 */
export async function startWeir(options: WeirOptions): Promise<WeirProcess> {
  const launched = await launchWeir(options);
  const { within = 60_000 } = options;
  try {
    const printed = (label: string): string | undefined =>
      new RegExp(`^ {2}${label} +(\\S+)`, "m").exec(launched.stdout())?.[1];
    const serving = await eventually(
      async () => {
        if (launched.exit() !== undefined) return "ended";
        const url = printed("address");
        const adminUrl = printed("admin");
        if (url === undefined || adminUrl === undefined) return undefined;
        return (await isHealthy(url)) ? { url, adminUrl, consoleUrl: printed("console") } : undefined;
      },
      { within, what: "Weir to serve" },
    );
    if (serving === "ended") throw new Error("it ended");
    const root = options.mountsOf === undefined ? "/" : `/proc/${options.mountsOf}/root`;
    const credential = (name: string) => readFileSync(join(root, options.data, "credentials", name), "utf8").trim();
    const user = credential("basic-auth-user");
    const password = credential("basic-auth-password");
    return {
      ...serving,
      user,
      password,
      authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`,
      data: options.data,
      pid: launched.pid,
      output: launched.output,
      exit: launched.exit,
      below: launched.below,
      stop: launched.stop,
      kill: launched.kill,
      close: launched.close,
      [Symbol.asyncDispose]: launched.close,
    };
  } catch (cause) {
    await launched.close();
    throw new Error(
      `Cannot start Weir: ${cause instanceof Error ? cause.message : String(cause)}\n${launched.output()}`,
      {
        cause,
      },
    );
  }
}

/** Accepts any certificate. */
async function isHealthy(url: string): Promise<boolean> {
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
  try {
    const response = await undiciFetch(`${url}/healthz`, { signal: AbortSignal.timeout(2_000), dispatcher });
    await response.body?.cancel();
    return response.status === 200;
  } finally {
    await dispatcher.destroy();
  }
}

/** Runs Weir to its end, for starts that fail and for `--help`; resolves with its exit and output. */
export async function runWeir(
  options: WeirOptions,
): Promise<Exit & { readonly stdout: string; readonly stderr: string }> {
  const launched = await launchWeir(options);
  try {
    const exit = await eventually(launched.drained, { within: options.within ?? 60_000, what: "Weir to end" });
    return { ...exit, stdout: launched.stdout(), stderr: launched.stderr() };
  } catch (cause) {
    throw new Error(`Cannot run Weir to its end\n${launched.output()}`, { cause });
  } finally {
    await launched.close();
  }
}

async function launchWeir(options: WeirOptions) {
  const flags = [...(options.flags ?? [])];
  for (const flag of ["--port", "--admin-port", "--console-port"]) if (!flags.includes(flag)) flags.push(flag, "0");
  // Otherwise it might use a container engine of this machine, which tests request by name.
  if (!flags.includes("--provider")) flags.push("--provider", "local");
  flags.push("--data", options.data);
  const hostMain = "runtime/host/main.ts";
  const [program, first] =
    options.through === "npm"
      ? ["npm", ["start", "--"]]
      : [
          process.execPath,
          [options.main ?? (options.clone === undefined ? await platformProgram(hostMain) : hostMain)],
        ];
  const entered = ["-t", String(options.mountsOf), "-m", `--wd=${repository}`, "--", program];
  const [command, before] = options.mountsOf === undefined ? [program, []] : ["nsenter", entered];
  // Its own process group stands in for the terminal's: Ctrl-C reaches npm and the host alike.
  const child = spawn(command, [...before, ...first, ...flags], {
    cwd: options.clone ?? repository,
    env: { ...environment(), ...options.environment },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  return watch(child, options.through ?? "node", options.data);
}

function watch(child: ChildProcess, through: "npm" | "node", data: string) {
  const { pid } = child;
  if (pid === undefined) throw new Error("Cannot start Weir: no process was made");
  const written = { stdout: "", stderr: "", all: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name]?.setEncoding("utf8").on("data", (text: string) => {
      written[name] += text;
      written.all += text;
    });
  }
  let exit: Exit | undefined;
  let drained = false;
  child.on("exit", (code, signal) => {
    exit = { code, signal };
  });
  child.on("close", () => {
    drained = true;
  });

  const seen = new Map<number, KnownProcess>();
  const below = (): readonly KnownProcess[] => {
    const now = descendants(pid);
    for (const known of now) seen.set(known.pid, known);
    return now;
  };
  // Children of the host may be orphaned by the time they are looked for.
  const watcher = setInterval(below, 500);
  watcher.unref();

  const signal = (name: NodeJS.Signals, target: number): void => {
    try {
      process.kill(target, name);
    } catch {
      // Already gone.
    }
  };
  const endAll = (): void => {
    if (exit === undefined) {
      below();
      signal("SIGKILL", -pid);
    }
    for (const known of seen.values()) endProcess(known);
  };
  process.once("exit", endAll);
  const close = async (): Promise<void> => {
    endAll();
    clearInterval(watcher);
    process.removeListener("exit", endAll);
    await eventually(() => exit !== undefined && [...seen.values()].every((known) => !isAlive(known)), {
      what: "every process of Weir to be gone",
    });
    // The next start in its data directory would remove what a killed one left, but the test removes that directory.
    if (exit?.signal === "SIGKILL") await removeRunDirectory(data);
  };
  const stop = async (within = 60_000): Promise<void> => {
    below();
    signal("SIGINT", -pid);
    const ended = await eventually(() => exit, { within, what: "Weir to end after Ctrl-C" }).catch(async (cause) => {
      await close();
      throw new Error(`${String(cause)}\n${written.all}`, { cause });
    });
    const left = [...seen.values()].filter(isAlive).map((known) => known.command);
    await close();
    // After Ctrl-C npm waits for its child, then ends itself by the same signal.
    const clean = ended.code === 0 || (through === "npm" && ended.signal === "SIGINT");
    if (!clean || left.length > 0) {
      const rest = left.length === 0 ? "nothing" : left.join("; ");
      throw new Error(`Weir ended with ${ended.code ?? ended.signal}, left: ${rest}\n${written.all}`);
    }
  };
  const kill = async (): Promise<void> => {
    below();
    signal("SIGKILL", through === "npm" ? -pid : pid);
    await eventually(() => exit, { what: "the killed Weir to be gone" });
  };
  return {
    pid,
    below,
    stop,
    kill,
    close,
    exit: () => exit,
    drained: () => (drained ? exit : undefined),
    stdout: () => written.stdout,
    stderr: () => written.stderr,
    output: () => written.all,
  };
}

async function removeRunDirectory(data: string): Promise<void> {
  const note = await readFile(join(data, "run", "run", "local.json"), "utf8").catch(() => "");
  const [, directory, pid] = /"directory":"([^"]*\/weir-[A-Za-z0-9]{6})","pid":(\d+)/.exec(note) ?? [];
  // A Weir that was started later in the same data directory has its own.
  if (directory !== undefined && !isRunning(Number(pid))) await rm(directory, { recursive: true, force: true });
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
