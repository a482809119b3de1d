import { readFileSync } from "node:fs";

/** The environment of this process; read once, at the start, by `main.ts`. */
export function environment(): Readonly<Record<string, string | undefined>> {
  return process.env;
}

/**
 * The content of a `--config` file.
 * @throws Error when it cannot be read
 */
export function readConfigFile(path: string): Uint8Array {
  return readFileSync(path);
}
