import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { expect } from "vitest";

import { environment } from "../../runtime/process/settings.ts";
import type { CommandProgram } from "./cli-program.ts";
import { eventually } from "./eventually.ts";
import { platformProgram } from "./platform-programs.ts";

const { XDG_CACHE_HOME: cache = join(homedir(), ".cache") } = environment();
/** The broker is among what was downloaded before. */
export const devVariables = { XDG_CACHE_HOME: cache };

/** A line of `weir dev` that says that function `hello` runs. */
export const helloRuns =
  /^hello {3}(?:ready in \d+ ms|no change; runs) at http:\/\/127\.0\.0\.1:\d+\/function\/hello$/m;

/** A packed command is nowhere near a checkout: a package leads it to this one, as the real one starts its own host. */
export async function installPlatform(home: string): Promise<void> {
  const host = await platformProgram("runtime/host/main.ts");
  const program = `import { spawn } from "node:child_process";
const args = [${JSON.stringify(host)}, ...process.argv.slice(2)];
const child = spawn(${JSON.stringify(process.execPath)}, args, { stdio: "inherit" });
process.on("SIGINT", () => {});
for (const name of ["SIGTERM", "SIGHUP"]) process.on(name, () => child.kill(name));
child.on("exit", (code) => (process.exitCode = code ?? 1));`;
  await writePlatformPackage(home, program);
}

/** A package `weir-platform` that is this program. */
export async function writePlatformPackage(home: string, program: string): Promise<void> {
  const installed = join(home, "node_modules", "weir-platform");
  await mkdir(installed, { recursive: true });
  await writeFile(join(installed, "package.json"), '{ "name": "weir-platform", "type": "module" }');
  await writeFile(join(installed, "weir-platform.js"), program);
}

/** Function `hello` of template node, in the directory of its project. */
export class HelloProject {
  readonly directory: string;
  readonly #source: string;

  private constructor(directory: string, source: string) {
    this.directory = directory;
    this.#source = source;
  }

  static async open(directory: string): Promise<HelloProject> {
    return new HelloProject(directory, await readFile(join(directory, "server.js"), "utf8"));
  }

  /** Its program, with another reply: a text, or an expression. */
  program(reply: string | { readonly expression: string }): string {
    const returned = typeof reply === "string" ? JSON.stringify(reply) : reply.expression;
    const changed = this.#source.replace(/return `.*`;/, () => `return ${returned};`);
    if (changed === this.#source) throw new Error("Cannot change the reply of the template: it is not found");
    return changed;
  }

  /** Saves the program with another reply. */
  reply(text: string): Promise<void> {
    return this.save(this.program(text));
  }

  save(text: string, file = "server.js"): Promise<void> {
    return writeFile(join(this.directory, file), text);
  }
}

/** Status and body of a call of function `hello`. */
export async function callHello(gateway: string): Promise<string> {
  const response = await fetch(`${gateway}/function/hello`, { method: "POST", body: "x" });
  return `${response.status} ${await response.text()}`;
}

export interface DevOptions {
  readonly program: CommandProgram;
  readonly home: string;
  /** Of the project. */
  readonly directory: string;
  readonly args?: readonly string[];
}

/** `weir dev` as it runs. */
export interface RunningDev extends AsyncDisposable {
  readonly pid: number;
  /** Its exit code; null when it was killed. */
  readonly end: Promise<number | null>;
  /** Its stdout since the start, or the last `forget`. */
  shown(): string;
  stderr(): string;
  forget(): void;
  /** Resolves when a line is shown. */
  says(line: RegExp): Promise<true>;
  /** As Ctrl-C. */
  interrupt(): void;
}

/** Starts `weir dev`. What it started is ended with it, also when a test gives up. */
export function startDev({ program: [command, ...first], home, directory, args = [] }: DevOptions): RunningDev {
  const child = spawn(command, [...first, "dev", ...args], {
    cwd: directory,
    env: { HOME: home, PATH: environment()["PATH"], ...devVariables },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const { pid } = child;
  if (pid === undefined) throw new Error("Cannot start weir dev: no process was made");
  const written = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name].setEncoding("utf8").on("data", (text: string) => (written[name] += text));
  const end = once(child, "exit").then(([code]) => code as number | null);
  return {
    pid,
    end,
    shown: () => written.stdout,
    stderr: () => written.stderr,
    forget: () => void (written.stdout = ""),
    says: (line) =>
      eventually(() => line.test(written.stdout), { what: `${line} in the output`, within: 120_000 }).then(
        () => true as const,
        (cause: unknown) => {
          throw new Error(`${String(cause)}\n${written.stdout}\n${written.stderr}`, { cause });
        },
      ),
    interrupt: () => void child.kill("SIGINT"),
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGINT");
      await Promise.race([end, pause(30_000)]);
      child.kill("SIGKILL");
      child.stdout.destroy();
      await end;
    },
  };
}

export interface ManySaves {
  readonly dev: RunningDev;
  readonly gateway: string;
  readonly project: HelloProject;
  /** How many. */
  readonly saves: number;
}

/** Milliseconds between two saves at most: some follow before a deployment begins, some while it goes on. */
const longestPause = 600;

/** Saves at random while three callers call, and expects that no call fails, and that the last save wins for good. */
export async function expectLastSaveWins({ dev, gateway, project, saves }: ManySaves): Promise<void> {
  dev.forget();
  const done = new AbortController();
  const replies = new Map<string, number>();
  const callers = [1, 2, 3].map(async () => {
    while (!done.signal.aborted) {
      const reply = await callHello(gateway).catch(String);
      replies.set(reply, (replies.get(reply) ?? 0) + 1);
    }
  });
  const last = `200 save ${saves}`;
  try {
    for (let index = 1; index <= saves; index++) {
      await project.reply(`save ${index}`);
      await pause(Math.random() * longestPause);
    }
    await eventually(async () => (await callHello(gateway)) === last, { what: "the last save" });
    // For a moment the replica before serves, too. What a superseded save read of the last one is no change any more.
    await dev.says(/^hello {3}(?:ready in|no change; runs)[^\n]*$(?![^]*^hello {3}deploying$)/m);
    for (let again = 0; again < 20; again++) expect(await callHello(gateway)).toBe(last);
  } finally {
    done.abort();
    await Promise.all(callers);
  }
  const failed = [...replies].filter(([reply]) => !reply.startsWith("200 "));
  expect(failed, `weir dev said:\n${dev.shown()}\n${dev.stderr()}`).toEqual([]);
  expect(replies.get(last)).toBeGreaterThan(0);
}
