import type { Setting, Settings } from "../runtime/settings/setting.ts";
import { generalOptions, optionTables } from "./manifests/platform-options.ts";
import { processTables, tuningDefaults, tuningKeys } from "./manifests/read-platform.ts";
import { stackGroups, stackOptions } from "./stack-options.ts";

/** One key of a stack, without `weir:`. */
export interface StackKey {
  readonly key: string;
  /** The setting of a single key; a group has `group` instead, its options by name. */
  readonly setting?: Setting<unknown>;
  readonly group?: Settings;
  /** Text of the default, if all processes that read it have the same. */
  readonly fallback?: string | undefined;
}

const groupTables: Readonly<Record<string, Settings>> = { ...optionTables, ...stackGroups };

/** All keys that a stack may hold: those of the platform first, then its groups, then the settings of its processes. */
export const stackKeys: readonly StackKey[] = [
  ...Object.entries<Setting<unknown>>({ ...generalOptions, ...stackOptions }).map(([key, setting]) => ({
    key,
    setting,
    fallback: setting.fallback,
  })),
  ...Object.entries(groupTables).map(([key, group]) => ({ key, group })),
  ...tuningKeys.map(tuningKey),
];

function tuningKey(key: string): StackKey {
  const settings = Object.values<Settings>(processTables).flatMap((table) => table[key] ?? []);
  const fallbacks = new Set(settings.map(({ fallback }) => fallback));
  const [setting] = settings;
  if (setting === undefined) throw new Error(`Cannot describe setting "${key}": no process has it`);
  const fallback = tuningDefaults[key] ?? (fallbacks.size === 1 ? setting.fallback : undefined);
  return { key, setting, fallback };
}
