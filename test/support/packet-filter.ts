import { execFile } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { promisify } from "node:util";

const run = promisify(execFile);
const forwarding = "/proc/sys/net/ipv4/ip_forward";
const ours = /docker|weir/i;
/** The bridge of a cluster that `scripts/cluster` started in the meantime, not of an engine. */
const clusterBridge = "weir0";
const ofCluster = /\bweir0\b|\b(?:WEIRNODE|KUBE|CNI)-/;
const builtIn = new Set(["INPUT", "FORWARD", "OUTPUT", "PREROUTING", "POSTROUTING"]);

/** What a container engine changes in the network of this machine. */
export interface NetworkState {
  /** Rules, chains and policies by table, as `iptables-save` writes them. */
  readonly tables: ReadonlyMap<string, readonly string[]>;
  readonly links: readonly string[];
  readonly forwards: string;
}

export async function networkState(): Promise<NetworkState> {
  const tables = new Map<string, string[]>();
  let lines: string[] = [];
  for (const line of (await run("iptables-save")).stdout.split("\n")) {
    if (line.startsWith("*")) tables.set(line.slice(1), (lines = []));
    // Counters change by themselves.
    else if (/^[:-]/.test(line)) lines.push(line.replace(/ \[\d+:\d+\]$/, ""));
  }
  return { tables, links: await readdir("/sys/class/net"), forwards: await readFile(forwarding, "utf8") };
}

/** Rules, chains and links of functions that are not in `before`, as text; without the engine's own. */
export async function addedSince(before: NetworkState): Promise<string[]> {
  const now = await networkState();
  return [
    ...[...now.tables].flatMap(([table, lines]) =>
      newLines(before, table, lines)
        .filter((line) => /weir/i.test(line))
        .map((line) => `${table}: ${line}`),
    ),
    ...newLinks(before, now),
  ];
}

/** Removes rules, chains and bridges of containers that are not in `before`. */
export async function restoreNetwork(before: NetworkState): Promise<void> {
  const now = await networkState();
  for (const [table, lines] of now.tables) {
    const added = newLines(before, table, lines);
    const rules = added.filter((line) => line.startsWith("-A "));
    const chains = added.filter((line) => line.startsWith(":")).map((line) => line.slice(1).split(" ")[0] ?? "");
    for (const rule of rules) await iptables(table, rule.replace(/^-A/, "-D").split(" "));
    for (const chain of chains.filter((name) => !builtIn.has(name))) await iptables(table, ["-X", chain]);
    for (const policy of before.tables.get(table) ?? []) {
      const [, chain = "", target = ""] = /^:(\S+) (\S+)/.exec(policy) ?? [];
      if (builtIn.has(chain) && !lines.includes(policy)) await iptables(table, ["-P", chain, target]);
    }
  }
  for (const link of newLinks(before, now)) await run("ip", ["link", "delete", link]);
  if (!now.links.includes(clusterBridge)) await writeFile(forwarding, before.forwards);
}

function newLinks(before: NetworkState, now: NetworkState): string[] {
  return now.links.filter((name) => name.startsWith("weir") && name !== clusterBridge && !before.links.includes(name));
}

function newLines(before: NetworkState, table: string, lines: readonly string[]): string[] {
  const old = before.tables.get(table) ?? [];
  return lines.filter((line) => ours.test(line) && !ofCluster.test(line) && !old.includes(line));
}

async function iptables(table: string, args: readonly string[]): Promise<void> {
  await run("iptables", ["-w", "5", "-t", table, ...args]);
}
