import { flagsOf } from "../settings/read-settings.ts";
import type { Settings } from "../settings/setting.ts";
import type { Flag } from "../process/command-line.ts";
import { hostSettings, type HostSettings } from "./settings.ts";

/** What somebody may want at the first start, by what it is about; all else is shown by `--help-all`. */
const groups: Readonly<Record<string, readonly (keyof HostSettings)[]>> = {
  "Addresses:": ["host", "port", "adminPort", "publicUrl", "tlsCert", "tlsKey"],
  "What is kept:": ["data", "durability", "callRecordTtl", "natsServer"],
  "Functions:": ["provider", "functionNamespace", "functionMemory", "functionCpu"],
  "Calls:": ["upstreamTimeout", "wakeTimeout", "basicAuth", "invokeAuth"],
  "Queued calls:": ["maxInflight", "asyncMaxBody", "retryAttempts", "retryMinWait", "retryMaxWait"],
  "Log:": ["logLevel", "logFormat", "accessLog"],
  "Limits:": ["edition"],
};
const others = "For those who operate it:";

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
