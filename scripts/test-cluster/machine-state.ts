import { execFileSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";

import { findTool } from "../debian-tool.ts";

/** Directories and kernel settings that a Kubernetes node creates or changes outside of its own directory. */
const directories = ["/var/lib/kubelet", "/var/lib/cni", "/var/log/pods", "/var/log/containers"];
const kernelSettings = ["vm/overcommit_memory", "vm/panic_on_oom", "kernel/panic", "kernel/panic_on_oops"];
const bridge = "weir0";
const chains = /(?:KUBE|WEIRNODE|CNI)-/;

/**
 * The network devices, packet filter rules, mounts below `directory`, control groups, directories and kernel settings
 * on this machine that a cluster in `directory` would create: a line each, without those of other programs.
 */
export function machineState(directory: string): readonly string[] {
  const mounts = readFileSync("/proc/self/mountinfo", "utf8").split("\n");
  return [
    ...(existsSync(`/sys/class/net/${bridge}`) ? [`network device ${bridge}`] : []),
    ...["iptables-save", "ip6tables-save"].flatMap(rules),
    ...mounts.flatMap((line) => {
      const place = line.split(" ")[4] ?? "";
      return place.startsWith(`${directory}/`) ? [`mount ${place}`] : [];
    }),
    ...globSync("/sys/fs/cgroup/{kubepods,*/kubepods}").map((path) => `control group ${path}`),
    ...directories.filter((path) => existsSync(path)).map((path) => `directory ${path}`),
    ...kernelSettings.flatMap((name) => setting(`/proc/sys/${name}`)),
    ...(existsSync(directory) ? [`directory ${directory}`] : []),
  ];
}

/** Lines of `after` that are not in `before`. */
export function addedLines(before: readonly string[], after: readonly string[]): readonly string[] {
  const known = new Set(before);
  return after.filter((line) => !known.has(line));
}

function rules(program: string): readonly string[] {
  const path = findTool(program);
  if (path === undefined || process.getuid?.() !== 0) return [];
  return execFileSync(path, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] })
    .split("\n")
    .filter((line) => chains.test(line))
    .map((line) => `${program.replace("-save", "")} ${line.replace(/ \[\d+:\d+\]$/, "")}`);
}

function setting(path: string): readonly string[] {
  try {
    return [`${path} = ${readFileSync(path, "utf8").trim()}`];
  } catch {
    return [];
  }
}
