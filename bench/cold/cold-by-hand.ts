import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

import { reportIn } from "../../runtime/adapters/machine/local/watchdog-report.ts";
import { coldProgram, preciseNow, type ColdReport, type ColdStart } from "./cold-pieces.ts";

const watchdog = fileURLToPath(new URL("../../runtime/watchdog/main.ts", import.meta.url));

/** Starts the process that a replica is, asks it as soon as it says that it serves, and ends it. */
export async function coldByHand(place: {
  readonly directory: string;
  readonly compileCache: string;
}): Promise<ColdStart> {
  const path = `${process.execPath.replace(/\/[^/]+$/, "")}:/usr/bin:/bin`;
  const called = preciseNow();
  const child = spawn(process.execPath, [watchdog, "--host", "127.0.0.1", "--port", "0"], {
    cwd: place.directory,
    env: { PATH: path, NODE_COMPILE_CACHE: place.compileCache },
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const ended = once(child, "exit");
  try {
    child.send({ environment: { PATH: path, mode: "http", fprocess: `node -e '${coldProgram}'` } });
    const port = await servingPort(child);
    const report = await answerOf(port);
    return { ...report, called, answered: preciseNow() };
  } finally {
    child.kill("SIGTERM");
    await ended;
  }
}

async function servingPort(child: NodeJS.EventEmitter): Promise<number> {
  const [message]: unknown[] = await once(child, "message");
  const report = reportIn(message);
  if (report === undefined || !("port" in report))
    throw new Error("Cannot start the function: its watchdog says no port");
  return report.port;
}

/** Asks until it answers 200, as the function may not listen yet when its watchdog does. */
async function answerOf(port: number): Promise<ColdReport> {
  for (let round = 0; round < 10_000; round += 1) {
    const answer = await fetch(`http://127.0.0.1:${port}/`);
    if (answer.ok) return (await answer.json()) as ColdReport;
    await answer.body?.cancel();
  }
  throw new Error("Cannot start the function: it does not answer");
}
