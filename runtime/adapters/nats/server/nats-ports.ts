import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { PlatformError } from "../../../api/platform-error.ts";
import { writeFileDurably } from "../../../disk/durable-files.ts";
import { lastingPort, portRanges, tryPort } from "./free-port.ts";

/** Ports of the server on loopback. */
export interface NatsPorts {
  readonly port: number;
  readonly monitorPort: number;
}

const fileName = "ports.json";

/**
 * The ports to use: those that are set; for 0 the ones noted in `directory` at an earlier start if they are still free,
 * else any free ones. The ports in use are noted.
 * @throws PlatformError `queue_unavailable` when a port that is set is taken
 */
export async function chooseNatsPorts(directory: string, wanted: NatsPorts): Promise<NatsPorts> {
  const noted = await readNoted(join(directory, fileName));
  const port = await choose("port", wanted, noted);
  const monitorPort = await choose("monitorPort", wanted, noted);
  await writeFileDurably(join(directory, fileName), `${JSON.stringify({ port, monitorPort })}\n`);
  return { port, monitorPort };
}

const uses = {
  port: { flag: "--nats-port", range: portRanges.broker },
  monitorPort: { flag: "--nats-monitor-port", range: portRanges.brokerMonitor },
} as const;

async function choose(use: keyof NatsPorts, wanted: NatsPorts, noted: NatsPorts | undefined): Promise<number> {
  const { flag, range } = uses[use];
  if (wanted[use] !== 0) {
    if ((await tryPort(wanted[use])) !== undefined) return wanted[use];
    throw new PlatformError(
      "queue_unavailable",
      `Cannot start nats-server on port ${wanted[use]}: it is in use; stop what uses it or choose another with ${flag}`,
    );
  }
  const earlier = noted === undefined ? undefined : await tryPort(noted[use]);
  const free = earlier ?? (await lastingPort(range));
  if (free === undefined)
    throw new PlatformError("queue_unavailable", "Cannot start nats-server: no port of this machine is free");
  return free;
}

async function readNoted(file: string): Promise<NatsPorts | undefined> {
  try {
    const content: unknown = JSON.parse(await readFile(file, "utf8"));
    if (typeof content !== "object" || content === null || !("port" in content) || !("monitorPort" in content))
      return undefined;
    const { port, monitorPort } = content;
    return isPort(port) && isPort(monitorPort) ? { port, monitorPort } : undefined;
  } catch {
    return undefined;
  }
}

function isPort(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) > 0 && Number(value) <= 65_535;
}
