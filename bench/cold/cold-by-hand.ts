import { spawn } from "node:child_process";
import { on, once } from "node:events";
import { fileURLToPath } from "node:url";

import { preciseNow } from "../../test/support/precise-now.ts";
import { coldProgram, type ColdReport, type ColdStart } from "./cold-pieces.ts";

const watchdog = fileURLToPath(new URL("../../runtime/watchdog/main.ts", import.meta.url));

/** Starts a replica's process, calls it as soon as it reports its port, and ends it. */
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
    const report = await firstReport(port);
    return { ...report, called, answered: preciseNow() };
  } finally {
    child.kill("SIGTERM");
    await ended;
  }
}

async function servingPort(child: NodeJS.EventEmitter): Promise<number> {
  for await (const [message] of on(child, "message")) {
    if (typeof message === "object" && message !== null && "port" in message) return Number(message.port);
  }
  throw new Error("Cannot start the function: its watchdog says no port");
}

/** Calls the function until it replies 200, as its watchdog may listen before it does. */
async function firstReport(port: number): Promise<ColdReport> {
  for (let round = 0; round < 10_000; round += 1) {
    const response = await fetch(`http://127.0.0.1:${port}/`);
    if (response.ok) return (await response.json()) as ColdReport;
    await response.body?.cancel();
  }
  throw new Error("Cannot start the function: it does not answer");
}
