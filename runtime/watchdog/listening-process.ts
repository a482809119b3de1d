import { readdir, readFile, readlink } from "node:fs/promises";

/** A process that listens for connections. */
export interface ListeningProcess {
  readonly pid: number;
  /** The lowest of its ports. */
  readonly port: number;
  /** Processor time that it has used, in ticks of 10 ms. */
  readonly ticks: number;
}

const listening = "0A";

/** The ports that are listened on, by socket, in the text of `/proc/net/tcp` or `tcp6`. */
export function listeningPorts(table: string): Map<string, number> {
  const ports = new Map<string, number>();
  for (const line of table.split("\n").slice(1)) {
    const [, local = "", , state, , , , , , inode] = line.trim().split(/\s+/);
    const port = Number.parseInt(local.slice(local.lastIndexOf(":") + 1), 16);
    if (state === listening && inode !== undefined && port > 0) ports.set(`socket:[${inode}]`, port);
  }
  return ports;
}

/** Processor time of a process in the text of its `/proc/<pid>/stat`, in ticks; its name may hold anything. */
export function processorTicks(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return Number(fields[11] ?? 0) + Number(fields[12] ?? 0);
}

/**
 * The process that listens on a TCP port and still holds the input of `pid`: that one itself, or one it started. Undefined when
 * there is none, or the system shows no processes (`/proc`).
 */
export async function findListener(pid: number): Promise<ListeningProcess | undefined> {
  const input = await readlink(`/proc/${pid}/fd/0`).catch(() => undefined);
  return input === undefined ? undefined : await listenerWith(input, pid);
}

async function listenerWith(input: string, pid: number): Promise<ListeningProcess | undefined> {
  try {
    const sockets = await socketsOf(pid, input);
    if (sockets.length > 0) {
      const tables = await Promise.all(["tcp", "tcp6"].map((name) => readTable(`/proc/${pid}/net/${name}`)));
      const ports = sockets.flatMap((socket) => tables.flatMap((table) => table.get(socket) ?? []));
      const ticks = processorTicks(await readFile(`/proc/${pid}/stat`, "latin1"));
      if (ports.length > 0) return { pid, port: Math.min(...ports), ticks };
    }
    for (const child of await childrenOf(pid)) {
      const found = await listenerWith(input, child);
      if (found !== undefined) return found;
    }
  } catch {
    // It ended just now, or is another user's.
  }
  return undefined;
}

/** The sockets of a process beside `input`; none if it does not hold that. */
async function socketsOf(pid: number, input: string): Promise<string[]> {
  const names = await readdir(`/proc/${pid}/fd`);
  const links = await Promise.all(names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => "")));
  return links[names.indexOf("0")] === input
    ? links.filter((link) => link.startsWith("socket:") && link !== input)
    : [];
}

async function childrenOf(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`);
  const texts = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, "latin1").catch(() => "")),
  );
  return texts.flatMap((text) => text.split(" ").map(Number)).filter((child) => child > 0);
}

async function readTable(path: string): Promise<Map<string, number>> {
  return listeningPorts(await readFile(path, "latin1").catch(() => ""));
}
