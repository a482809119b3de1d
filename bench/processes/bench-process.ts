import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { startBackground } from "../background.ts";
import { pinned } from "../tools.ts";
import { bundledProgram } from "./bundled-program.ts";

/** A process of the platform that is ready. */
export interface BenchProcess {
  readonly pid: number;
  readonly adminPort: number;
  /** Milliseconds from its start until `/readyz` said so. */
  readonly took: number;
  /** Ends it; resolves when it is gone. */
  stop(): Promise<void>;
}

/** What is started: a folder of `runtime`, with the port that it is asked on and its other flags. */
export interface ProcessStart {
  readonly name: string;
  readonly adminPort: number;
  readonly flags: readonly string[];
  /** The core it stays on; any when absent. */
  readonly core?: number | undefined;
}

const repository = join(import.meta.dirname, "../..");
const longest = 60_000;
const lookEvery = 5;

/** With modules that were compiled before, as `npm start` keeps them. */
export const compiledModules = { NODE_COMPILE_CACHE: join(repository, "node_modules/.cache/compiled") } as const;

/**
 * Starts a process of the platform and resolves once it is ready.
 * @throws Error when it ends before, or is not ready in a minute; nothing of it is left then
 */
export async function startProcess({ name, adminPort, flags, core }: ProcessStart): Promise<BenchProcess> {
  const program = await bundledProgram();
  const began = performance.now();
  const command = [process.execPath, program, name, "--admin-port", String(adminPort), ...flags];
  const started = startBackground(core === undefined ? command : pinned(core, command));
  const { child } = started;
  const until = began + longest;
  while (!(await isReady(adminPort))) {
    const over = child.exitCode !== null || child.signalCode !== null;
    if (over || performance.now() > until) {
      await started.stop();
      throw new Error(`Cannot measure ${name}: it ${over ? "ended" : `was not ready in ${longest} ms`}`);
    }
    await pause(lookEvery);
  }
  return { pid: child.pid ?? 0, adminPort, took: performance.now() - began, stop: () => started.stop() };
}

async function isReady(adminPort: number): Promise<boolean> {
  try {
    const answer = await fetch(`http://127.0.0.1:${adminPort}/readyz`);
    await answer.body?.cancel();
    return answer.ok;
  } catch {
    return false;
  }
}
