import { flagsOf } from "../settings/read-settings.ts";
import type { Settings } from "../settings/setting.ts";
import type { Flag } from "../process/command-line.ts";
import { hostSettings, type HostSettings } from "./settings.ts";

/** Flags for a first start, by topic; `--help-all` shows the others, too. */
const groups: Readonly<Record<string, readonly (keyof HostSettings)[]>> = {
  "Addresses:": ["host", "port", "adminPort", "publicUrl", "tlsCert", "tlsKey"],
  "Storage:": ["data", "durability", "callRecordTtl", "natsServer"],
  "Functions:": ["provider", "functionNamespace", "functionMemory", "functionCpu"],
  "Calls:": ["upstreamTimeout", "wakeTimeout", "basicAuth", "invokeAuth"],
  "Queued calls:": ["maxInflight", "asyncMaxBody", "retryAttempts", "retryMinWait", "retryMaxWait"],
  "Log:": ["logLevel", "logFormat", "accessLog"],
  "Limits:": ["edition"],
};
const others = "For operators:";

/** The flags of `npm start`, in groups. */
export function hostFlags(): readonly Flag[] {
  const table: Settings = hostSettings;
  const shown = new Set<string>(Object.values(groups).flat());
  const rest = Object.keys(table).filter((key) => !shown.has(key));
  const of = (keys: readonly string[]) =>
    flagsOf(Object.fromEntries(Object.entries(table).filter(([key]) => keys.includes(key))));
  return [
    ...Object.entries(groups).flatMap(([group, keys]) => of(keys).map((flag) => ({ ...flag, group }))),
    ...of(rest).map((flag) => ({ ...flag, group: others, rare: true })),
  ];
}
