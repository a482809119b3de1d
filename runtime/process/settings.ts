import { readFileSync } from "node:fs";

import { parse } from "yaml";

/** The environment of this process; read once, at the start, by `main.ts`. */
export function environment(): Readonly<Record<string, string | undefined>> {
  return process.env;
}

const fileLimit = 1_048_576;

/**
 * The settings of a `--config` file: one YAML mapping.
 * @throws Error with a sentence when it cannot be read or is no mapping
 */
export function readConfigFile(path: string): Readonly<Record<string, unknown>> {
  let content: unknown;
  try {
    const text = readFileSync(path, "utf8");
    if (text.length > fileLimit) throw new Error(`longer than ${fileLimit} bytes`);
    content = parse(text, { schema: "core", uniqueKeys: true, maxAliasCount: 10 }) ?? {};
  } catch (cause) {
    throw new Error(`Cannot read settings file "${path}": ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
  if (typeof content !== "object" || content === null || Array.isArray(content)) {
    throw new Error(`Cannot read settings file "${path}": expected a mapping of setting names to values`);
  }
  return content as Readonly<Record<string, unknown>>;
}
