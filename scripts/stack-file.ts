import { readFileSync } from "node:fs";

import { parse } from "yaml";

import { configNamespace } from "../infra/check-config.ts";
import { isMapping } from "../runtime/api/mapping.ts";

/** What a file `Pulumi.<stack>.yaml` says of the platform. */
export interface StackFile {
  /** By key, without `weir:`. */
  readonly values: Readonly<Record<string, unknown>>;
  /** Keys, with `weir:`, whose values are encrypted: only Pulumi can read them. */
  readonly encrypted: readonly string[];
}

/**
 * Reads the configuration of a stack as Pulumi keeps it: keys with namespace, secret values as `{secure: …}`.
 * @throws Error with a sentence when it is no such file
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
  const isEncrypted = (value: unknown): boolean => isMapping(value) && Object.hasOwn(value, "secure");
  return {
    values: Object.fromEntries(
      own.filter(([, value]) => !isEncrypted(value)).map(([key, value]) => [key.slice(prefix.length), value]),
    ),
    encrypted: own.filter(([, value]) => isEncrypted(value)).map(([key]) => key),
  };
}
