import { parse, stringify } from "yaml";

import { usageError } from "../cli-error.ts";
import { changeFile, readIfThere } from "./locked-file.ts";

/** A gateway that is known by a name. */
export interface GatewayContext {
  readonly gateway: string;
  readonly namespace?: string;
  /** Absolute paths. */
  readonly caFile?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
  readonly tlsInsecure?: boolean;
}

/** Content of `contexts.yaml`. */
export interface Contexts {
  /** The one that is used when nothing else says which. */
  readonly current?: string;
  readonly contexts: Readonly<Record<string, GatewayContext>>;
}

/** Reads the contexts; none when there is no file. */
export async function readContexts(file: string): Promise<Contexts> {
  return parseContexts(file, await readIfThere(file));
}

/** Changes the contexts in one step. */
export async function changeContexts(file: string, change: (contexts: Contexts) => Contexts): Promise<void> {
  await changeFile(file, (text) => stringify(change(parseContexts(file, text))));
}

function parseContexts(file: string, text: string): Contexts {
  let value: unknown;
  try {
    value = parse(text);
  } catch {
    throw usageError(`Cannot read "${file}": it is not YAML; correct or remove it`);
  }
  if (value === null || value === undefined) return { contexts: {} };
  const { contexts, current } = value as Partial<Contexts>;
  const all = Object.entries(contexts ?? {});
  if (typeof value !== "object" || all.some(([, each]) => typeof each?.gateway !== "string"))
    throw usageError(`Cannot read "${file}": every context needs a "gateway"; correct or remove it`);
  return { contexts: Object.fromEntries(all), ...(typeof current === "string" ? { current } : {}) };
}
