import { parse, stringify } from "yaml";

import { nearestName } from "../../api/closest-name.ts";
import { usageError, type CliError } from "../cli-error.ts";
import type { TlsFiles } from "../client/dispatcher.ts";
import { changeFile, readIfThere } from "./locked-file.ts";

/** A gateway that is known by a name; the paths of its TLS files are absolute. */
export interface GatewayContext extends TlsFiles {
  readonly gateway: string;
  readonly namespace?: string;
}

/** Content of `contexts.yaml`. */
export interface Contexts {
  /** The one that is used when nothing else says which. */
  readonly current?: string;
  readonly contexts: Readonly<Record<string, GatewayContext>>;
}

const nameGrammar = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

/**
 * A name that a context can have.
 * @throws CliError for others
 */
export function checkedContextName(name: string): string {
  if (nameGrammar.test(name)) return name;
  throw usageError(
    `Cannot use context name "${name}": it must be 1 to 63 letters, digits, ".", "_" and "-", the first a letter or digit`,
  );
}

/** The error for a name that no context has. */
export function unknownContext(name: string, known: Contexts["contexts"], source = ""): CliError {
  const near = nearestName(name, Object.keys(known));
  const question = near === undefined ? "" : `; did you mean "${near}"?`;
  return usageError(`Cannot use context "${name}"${source}: there is none${question}`, "weir context list");
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
  const refuse = (reason: string): never => {
    throw usageError(`Cannot read "${file}": ${reason}; correct or remove it`);
  };
  let value: unknown;
  try {
    value = parse(text, { logLevel: "error" });
  } catch {
    return refuse("it is not YAML");
  }
  if (value === null || value === undefined) return { contexts: {} };
  const { contexts, current } = value as { readonly contexts?: unknown; readonly current?: unknown };
  const all = Object.entries(contexts ?? {});
  const wrong = all.find(([, each]) => !isContext(each));
  if (wrong !== undefined) refuse(`context "${wrong[0]}" is not one with a "gateway"`);
  if (typeof value !== "object") refuse('it has no "contexts"');
  return {
    contexts: Object.fromEntries(all as readonly (readonly [string, GatewayContext])[]),
    ...(typeof current === "string" ? { current } : {}),
  };
}

function isContext(value: unknown): boolean {
  const { gateway, namespace, caFile, certFile, keyFile, tlsInsecure } = (value ?? {}) as Readonly<
    Record<string, unknown>
  >;
  return (
    typeof gateway === "string" &&
    [namespace, caFile, certFile, keyFile].every((each) => each === undefined || typeof each === "string") &&
    (tlsInsecure === undefined || typeof tlsInsecure === "boolean")
  );
}
