import type { Edition } from "../api/editions.ts";
import { runsContainers, type ProviderName } from "../api/machine-providers.ts";
import type { SystemInfo } from "../api/schemas/system-info.ts";
import { apiVersion } from "../api/version.ts";

/** A provider of functions, as `/system/info` names it behind `weir-`. */
export type InfoProvider = ProviderName | "kubernetes";

/** Facts that `/system/info` is built from. */
export interface InfoFacts {
  readonly provider: InfoProvider;
  readonly version: SystemInfo["version"];
  /** As Node.js names it: `x64`, `arm64` … */
  readonly arch: string;
  readonly edition: Edition;
  readonly functionNamespace: string;
  readonly namespaceAliases: readonly string[];
  readonly durability: string;
}

/** Architecture names of this family of APIs where they differ from those of Node.js. */
const archNames: ReadonlyMap<string, string> = new Map([["x64", "x86_64"]]);

/** The response body of `/system/info`. Provider and gateway are released together, so they have one version. */
export function platformInfo(facts: InfoFacts): SystemInfo {
  return {
    provider: {
      provider: `weir-${facts.provider}`,
      orchestration: orchestrationOf(facts.provider),
      version: facts.version,
    },
    version: facts.version,
    arch: archNames.get(facts.arch) ?? facts.arch,
    edition: facts.edition,
    apiVersion,
    functionNamespace: facts.functionNamespace,
    namespaceAliases: [...facts.namespaceAliases],
    durability: facts.durability,
  };
}

function orchestrationOf(provider: InfoProvider): string {
  return provider === "kubernetes" || runsContainers(provider) ? provider : "process";
}
