import { access, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Name of a project's file. */
export const projectFileName = "weir.yaml";

/** What a `weir.yaml` says about where it is deployed. */
export interface ProjectHead {
  /** Absolute path. */
  readonly file: string;
  readonly gateway: string | undefined;
  readonly namespace: string | undefined;
}

/** Path of the `weir.yaml` in `directory` or above; undefined when there is none. */
export async function findProjectFile(directory: string): Promise<string | undefined> {
  for (let at = directory; ; at = dirname(at)) {
    const file = join(at, projectFileName);
    const there = await access(file).then(
      () => true,
      () => false,
    );
    if (there) return file;
    if (dirname(at) === at) return undefined;
  }
}

/**
 * Gateway and namespace of the project around `directory`. Everything else in the file is not read here: a command
 * that deploys nothing works beside a file with mistakes.
 */
export async function projectHead(directory: string): Promise<ProjectHead | undefined> {
  const file = await findProjectFile(directory);
  if (file === undefined) return undefined;
  const { parse } = await import("yaml");
  const text = await readFile(file, "utf8").catch(() => "");
  let value: unknown;
  try {
    value = parse(text, { logLevel: "silent" });
  } catch {
    value = undefined;
  }
  const { gateway, namespace } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return {
    file,
    gateway: typeof gateway === "string" ? gateway : undefined,
    namespace: typeof namespace === "string" ? namespace : undefined,
  };
}
