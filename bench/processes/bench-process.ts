import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { startBackground } from "../background.ts";
import { pinned } from "../tools.ts";
import { bundledProgram } from "./bundled-program.ts";

/** A process of the platform that is ready. */
export interface BenchProcess {
  readonly pid: number;
  readonly adminPort: number;
  /** Milliseconds from its start until `/readyz` succeeded. */
  readonly took: number;
  /** Ends the process; resolves once it has exited. */
  stop(): Promise<void>;
}

/** What is started: `name` is a folder of `runtime`; `flags` are those beside the admin port. */
export interface ProcessStart {
  readonly name: string;
  readonly adminPort: number;
  readonly flags: readonly string[];
  /** The core that the process is pinned to; any when absent. */
  readonly core?: number | undefined;
}

const repository = join(import.meta.dirname, "../..");
const timeout = 60_000;
const pollEvery = 5;

/** Environment variables for a cache of compiled modules, the one that `npm start` keeps. */
export const compiledModules = { NODE_COMPILE_CACHE: join(repository, "node_modules/.cache/compiled") } as const;

/**
 * Starts a process of the platform and resolves once it is ready.
 * @throws Error when it ends before that or is not ready within a minute; it has ended then
 */
export async function startProcess({ name, adminPort, flags, core }: ProcessStart): Promise<BenchProcess> {
  const program = await bundledProgram();
  const began = performance.now();
  const command = [process.execPath, program, name, "--admin-port", String(adminPort), ...flags];
  const started = startBackground(core === undefined ? command : pinned(core, command));
  const { child } = started;
  const until = began + timeout;
  while (!(await isReady(adminPort))) {
    const over = child.exitCode !== null || child.signalCode !== null;
    if (over || performance.now() > until) {
      await started.stop();
      throw new Error(`Cannot measure ${name}: it ${over ? "ended" : `was not ready in ${timeout} ms`}`);
    }
    await pause(pollEvery);
  }
  return { pid: child.pid ?? 0, adminPort, took: performance.now() - began, stop: () => started.stop() };
}

async function isReady(adminPort: number): Promise<boolean> {
  try {
    const response = await fetch(`http://127.0.0.1:${adminPort}/readyz`);
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}
