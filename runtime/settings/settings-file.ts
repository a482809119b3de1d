import { parseYaml } from "../api/yaml-document.ts";

/**
 * The settings of a `--config` file: one YAML mapping of at most 64 KiB, which `readFile` returns.
 * @throws Error with a sentence when it cannot be read or is not a mapping
 */
export function readSettingsFile(
  path: string,
  readFile: (path: string) => Uint8Array,
): Readonly<Record<string, unknown>> {
  let content: unknown;
  try {
    content = parseYaml(readFile(path)) ?? {};
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
