import { readFileSync } from "node:fs";

import { parse } from "yaml";

import { checkConfig, configNamespace } from "./check-config.ts";
import type { KeyPath } from "./stack-secrets.ts";
import { isMapping } from "../runtime/settings/mapping.ts";

/** The platform's configuration in a file `Pulumi.<stack>.yaml`. */
export interface StackFile {
  /** By key, without `weir:` and without encrypted values. */
  readonly values: Readonly<Record<string, unknown>>;
  /** Paths, without `weir:`, of the values that are encrypted, such as `natsTls.key`: only Pulumi can read them. */
  readonly encrypted: readonly KeyPath[];
}

/**
 * Reads the configuration of a stack as Pulumi stores it: keys with namespace, secret values as `{secure: …}`.
 * @throws Error with a sentence when it is not such a file
 */
export function readStackFile(path: string): StackFile {
  let content: unknown;
  try {
    content = parse(readFileSync(path, "utf8"));
  } catch (err) {
    throw new Error(`Cannot read the stack "${path}": ${err instanceof Error ? err.message : String(err)}`, {
      cause: err,
    });
  }
  const config = isMapping(content) ? content["config"] : undefined;
  if (config !== undefined && config !== null && !isMapping(config))
    throw new Error(`Cannot read the stack "${path}": config: expected a mapping`);
  const prefix = `${configNamespace}:`;
  const own = Object.entries(config ?? {}).filter(([key]) => key.startsWith(prefix));
  const values = Object.fromEntries(own.map(([key, value]) => [key.slice(prefix.length), value]));
  return { values: readable(values), encrypted: encryptedPaths(values) };
}

function isEncrypted(value: unknown): boolean {
  return isMapping(value) && typeof value["secure"] === "string" && Object.keys(value).length === 1;
}

function readable(values: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([key, value]) =>
      isEncrypted(value) ? [] : [[key, isMapping(value) ? readable(value) : value]],
    ),
  );
}

function encryptedPaths(values: Readonly<Record<string, unknown>>, prefix = ""): KeyPath[] {
  return Object.entries(values).flatMap(([key, value]) => {
    if (isEncrypted(value)) return [prefix + key];
    return isMapping(value) ? encryptedPaths(value, `${prefix}${key}.`) : [];
  });
}

/** Whether a value is encrypted in the file, by itself or with its group, or is not in the file at all. */
export function isEncryptedIn({ values, encrypted }: StackFile, path: KeyPath): boolean {
  if (encrypted.some((each) => `${path}.`.startsWith(`${each}.`))) return true;
  return !isThere(values, path);
}

/** Whether there is a value at the path; a name in it may have dots. */
function isThere(values: Readonly<Record<string, unknown>>, path: KeyPath): boolean {
  return Object.entries(values).some(
    ([key, value]) =>
      (key === path && value !== undefined) ||
      (path.startsWith(`${key}.`) && isMapping(value) && isThere(value, path.slice(key.length + 1))),
  );
}

/** Checks the file as a configuration: encrypted values are not checked, unencrypted secrets are refused. */
export function checkStackFile({ values, encrypted }: StackFile): ReturnType<typeof checkConfig> {
  return checkConfig(values, { isEncrypted: () => false, unread: encrypted });
}
