import type { Confinement } from "./confinement.ts";

/** What separates functions from each other and from this machine, in words for whoever starts Weir. */
export function describeIsolation(confinement: Confinement, isRoot: boolean): string {
  const kept = [
    ...(isRoot ? ["a user per function"] : []),
    ...(confinement.noCapabilities ? ["no capabilities"] : []),
    ...(confinement.noNewPrivileges ? ["no new privileges"] : []),
    ...(confinement.seccomp ? ["seccomp"] : []),
  ];
  const lacking =
    confinement.noNewPrivileges && !confinement.seccomp ? "; no seccomp: neither setpriv 2.40 nor perl" : "";
  if (!isRoot) return `no isolation${kept.length === 0 ? "" : ` (${kept.join(", ")})`}${lacking}`;
  return `${kept.join(", ")}${lacking}; files, network, memory are shared: for trusted code`;
}
