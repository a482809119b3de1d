import type { Confinement } from "./confinement.ts";

/** What separates functions from each other and from this machine, in words for the person who starts Weir. */
export function describeIsolation(confinement: Confinement, isRoot: boolean): string {
  const measures = [
    ...(isRoot ? ["a user per function"] : []),
    ...(confinement.noCapabilities ? ["no capabilities"] : []),
    ...(confinement.noNewPrivileges ? ["no new privileges"] : []),
    ...(confinement.seccomp ? ["seccomp"] : []),
  ];
  const missing =
    confinement.noNewPrivileges && !confinement.seccomp ? "; no seccomp: neither setpriv 2.40 nor perl" : "";
  if (!isRoot) return `no isolation${measures.length === 0 ? "" : ` (${measures.join(", ")})`}${missing}`;
  return `${measures.join(", ")}${missing}; files, network (ports of mode http, too), memory are shared: for trusted code`;
}
