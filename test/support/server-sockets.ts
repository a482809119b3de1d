import { readFile } from "node:fs/promises";

/** How Linux writes states of sockets. */
const state = { listening: "0A", closeWait: "08" } as const;

/**
 * Counts the connections that a process still holds open at `place`, a TCP port or the path of a Unix socket. What the
 * kernel alone keeps, because the process closed it, is not counted.
 */
export async function serverSockets(place: number | string): Promise<number> {
  return typeof place === "number" ? tcpSockets(place, (found) => found !== state.listening) : unixSockets(place);
}

/** Counts the connections at a TCP port whose client ended its side, and the process did not. */
export async function endedSockets(port: number): Promise<number> {
  return tcpSockets(port, (found) => found === state.closeWait);
}

async function tcpSockets(port: number, isCounted: (found: string) => boolean): Promise<number> {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const tables = await Promise.all(["tcp", "tcp6"].map((name) => linesOf(name)));
  return tables.flat().filter((line) => {
    const [, local = "", , found = "", , , , , , inode] = line.trim().split(/\s+/);
    return local.endsWith(suffix) && isCounted(found) && inode !== "0";
  }).length;
}

async function unixSockets(path: string): Promise<number> {
  const acceptsConnections = 0x10000;
  const lines = await linesOf("unix");
  return lines.filter((line) => {
    const [, , , flags = "0", , , , bound] = line.trim().split(/\s+/);
    return bound === path && (Number.parseInt(flags, 16) & acceptsConnections) === 0;
  }).length;
}

async function linesOf(table: string): Promise<string[]> {
  const text = await readFile(`/proc/net/${table}`, "utf8").catch(() => "");
  return text.split("\n").slice(1);
}
