import { readdir, readFile, readlink } from "node:fs/promises";
import { endianness } from "node:os";

/** A process that listens for connections. */
export interface ListeningProcess {
  readonly pid: number;
  /** The lowest port on which it listens. */
  readonly port: number;
  /** Processor time that it has used, in ticks of 10 ms. */
  readonly ticks: number;
}

const listening = "0A";

/** Where a socket listens. */
export interface ListeningAddress {
  /** An IPv4 or IPv6 address; `*` = all. */
  readonly host: string;
  readonly port: number;
}

/** Addresses listened on, by socket, from the text of `/proc/net/tcp` or `tcp6`. */
export function listeningAddresses(table: string): Map<string, ListeningAddress> {
  const addresses = new Map<string, ListeningAddress>();
  for (const line of table.split("\n").slice(1)) {
    const [, local = "", , state, , , , , , inode] = line.trim().split(/\s+/);
    const [address = "", portText = ""] = local.split(":");
    const port = Number.parseInt(portText, 16);
    if (state === listening && inode !== undefined && port > 0)
      addresses.set(`socket:[${inode}]`, { host: hostOf(address), port });
  }
  return addresses;
}

/** The kernel writes an address as words of four bytes, each in this machine's byte order. */
function hostOf(hex: string): string {
  const words = hex.match(/.{8}/g) ?? [];
  const bytes = words.flatMap((word) => {
    const inOrder = word.match(/../g)?.map((byte) => Number.parseInt(byte, 16)) ?? [];
    return endianness() === "LE" ? inOrder.toReversed() : inOrder;
  });
  if (bytes.every((byte) => byte === 0)) return "*";
  if (bytes.length === 4) return bytes.join(".");
  const groups = Array.from({ length: 8 }, (_, index) =>
    ((bytes[2 * index] ?? 0) * 256 + (bytes[2 * index + 1] ?? 0)).toString(16),
  );
  // As in a URL, with the longest run of zeros left out.
  return new URL(`http://[${groups.join(":")}]`).hostname;
}

/** Where `pid`, or a process that it started, listens: sorted `host:port`; empty on systems without `/proc`. */
export async function addressesListenedOn(pid: number): Promise<string[]> {
  try {
    const links = (await linksOf(pid)).map(({ target }) => target);
    const tables = await tablesOf(pid);
    const own = links.flatMap((socket) => tables.flatMap((table) => table.get(socket) ?? []));
    const others = await Promise.all((await childrenOf(pid)).map(addressesListenedOn));
    return [...new Set([...own.map(({ host, port }) => `${host}:${port}`), ...others.flat()])].toSorted();
  } catch {
    // It has just ended, or is another user's.
    return [];
  }
}

/** Processor time in ticks, from the text of `/proc/<pid>/stat`; the process's name in it may contain anything. */
export function processorTicks(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return Number(fields[11] ?? 0) + Number(fields[12] ?? 0);
}

/**
 * The process that listens on a TCP port and still holds the input of `pid`: that one itself, or one it started.
 * Undefined when there is none, and on systems without `/proc`.
 */
export async function findListener(pid: number): Promise<ListeningProcess | undefined> {
  const input = await readlink(`/proc/${pid}/fd/0`).catch(() => undefined);
  return input === undefined ? undefined : await listenerWith(input, pid);
}

async function listenerWith(input: string, pid: number): Promise<ListeningProcess | undefined> {
  try {
    const sockets = await socketsOf(pid, input);
    if (sockets.length > 0) {
      const tables = await tablesOf(pid);
      const ports = sockets.flatMap((socket) => tables.flatMap((table) => table.get(socket)?.port ?? []));
      const ticks = processorTicks(await readFile(`/proc/${pid}/stat`, "latin1"));
      if (ports.length > 0) return { pid, port: Math.min(...ports), ticks };
    }
    for (const child of await childrenOf(pid)) {
      const found = await listenerWith(input, child);
      if (found !== undefined) return found;
    }
  } catch {
    // It has just ended, or is another user's.
  }
  return undefined;
}

/** The sockets of a process other than `input`; none if `input` is not its standard input. */
async function socketsOf(pid: number, input: string): Promise<string[]> {
  const links = await linksOf(pid);
  return links.some(({ name, target }) => name === "0" && target === input)
    ? links.map(({ target }) => target).filter((link) => link.startsWith("socket:") && link !== input)
    : [];
}

async function linksOf(pid: number): Promise<{ readonly name: string; readonly target: string }[]> {
  const names = await readdir(`/proc/${pid}/fd`);
  return await Promise.all(
    names.map(async (name) => ({ name, target: await readlink(`/proc/${pid}/fd/${name}`).catch(() => "") })),
  );
}

async function childrenOf(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`);
  const texts = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, "latin1").catch(() => "")),
  );
  return texts.flatMap((text) => text.split(" ").map(Number)).filter((child) => child > 0);
}

function tablesOf(pid: number): Promise<Map<string, ListeningAddress>[]> {
  return Promise.all(
    ["tcp", "tcp6"].map(async (name) =>
      listeningAddresses(await readFile(`/proc/${pid}/net/${name}`, "latin1").catch(() => "")),
    ),
  );
}
