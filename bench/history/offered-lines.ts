import { mkdirSync, writeFileSync, appendFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { logDirectory } from "../../runtime/adapters/machine/local/logs/log-files.ts";
import { formatLoggedLine } from "../../runtime/adapters/replica-logs/logged-line.ts";
import type { FunctionRef } from "../../runtime/core/functions/function-ref.ts";

/** Functions whose replicas write together as many lines as are offered. */
export const loggedFunctions: readonly FunctionRef[] = Array.from({ length: 50 }, (_, index) => ({
  namespace: "functions",
  name: `talks-${index}`,
}));
/** Lines a second of each of them. */
export const linesOfFunction = 200;

const replica = "r1";
const tick = 100;
const text = "x".repeat(120);

/** The files of replicas of provider `local`, each with one line. */
export function prepareLogs(logs: string): void {
  for (const ref of loggedFunctions) {
    mkdirSync(logDirectory(logs, ref), { recursive: true });
    writeFileSync(join(logDirectory(logs, ref), replica), lineAt(Date.now(), 0));
  }
}

/** Writes lines for `duration` milliseconds; resolves with the whole seconds in which every line was written, Unix time. */
export async function offerLines(logs: string, duration: number): Promise<readonly number[]> {
  const begun = Date.now();
  let written = 0;
  while (Date.now() - begun < duration) {
    const due = Math.floor(((Date.now() - begun) / 1_000) * linesOfFunction);
    const at = Date.now();
    const lines = Array.from({ length: due - written }, (_, index) => lineAt(at, index)).join("");
    for (const ref of loggedFunctions) appendFileSync(join(logDirectory(logs, ref), replica), lines);
    written = due;
    await pause(tick);
  }
  const [first, last] = [Math.ceil(begun / 1_000), Math.floor(Date.now() / 1_000)];
  return Array.from({ length: last - first }, (_, index) => first + index);
}

function lineAt(at: number, number: number): string {
  const timestamp = `${new Date(at).toISOString().slice(0, -1)}${String(number).padStart(6, "0")}Z`;
  return formatLoggedLine({ timestamp, text, stream: "stderr" });
}
