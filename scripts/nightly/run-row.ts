import { spawn } from "node:child_process";
import { once } from "node:events";

import type { NightlyRow } from "./rows.ts";

/** How a row ended. */
export interface RowEnd {
  readonly name: string;
  readonly outcome: "passed" | "failed" | "over its time";
  readonly seconds: number;
}

export interface RunRowOptions {
  /** The repository. */
  readonly root: string;
  /** Where the row writes the counts of its tests. */
  readonly report: string;
  /** Ends the row, as Ctrl-C does. */
  readonly signal: AbortSignal;
}

const minute = 60_000;
/** Milliseconds for a row to clean up after it was told to end. */
const grace = minute;

/** Runs one row with its output on this terminal; after its time limit it is told to end, and then killed. */
export async function runRow(row: NightlyRow, { root, report, signal }: RunRowOptions): Promise<RowEnd> {
  const began = performance.now();
  const reports = row.hasReport ? ["--report", report] : [];
  // A separate process group, because npm does not forward signals.
  const child = spawn("npm", ["run", "--silent", row.script, "--", ...row.args, ...reports], {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
    detached: true,
  });
  let late = false;
  let kill: NodeJS.Timeout | undefined;
  const end = (): void => {
    signalGroup(child.pid, "SIGINT");
    kill ??= setTimeout(() => signalGroup(child.pid, "SIGKILL"), grace);
  };
  const limit = setTimeout(() => {
    late = true;
    end();
  }, row.minutes * minute);
  signal.addEventListener("abort", end, { once: true });
  const [code] = await once(child, "exit");
  clearTimeout(limit);
  clearTimeout(kill);
  signal.removeEventListener("abort", end);
  const outcome = late ? "over its time" : code === 0 ? "passed" : "failed";
  return { name: row.name, outcome, seconds: Math.round((performance.now() - began) / 1_000) };
}

function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // It ended in the meantime.
  }
}
