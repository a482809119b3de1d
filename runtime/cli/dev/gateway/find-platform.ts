import { readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";

import { release } from "../../../api/version.ts";

/** A Weir on this machine that can be started. */
export interface PlatformProgram {
  /** A clone of the repository, or the npm package. */
  readonly kind: "checkout" | "package";
  /** Absolute. */
  readonly directory: string;
  /** Whether the npm packages that it needs are there. */
  readonly installed: boolean;
}

/** Directory below a project where `weir dev` installs a Weir; nothing in `.weir` is deployed or watched. */
export const platformPrefix = join(".weir", "platform");
export const platformPackage = "weir-platform";
/** The file of this release that it is installed from: who holds its name in a registry is not known. */
export const platformFile = `${platformPackage}-${release}.tgz`;

/**
 * The first Weir in these directories or above: a checkout, or package `weir-platform`. What belongs neither to this
 * user nor to root is left out, as it would be run.
 */
export async function findPlatform(
  directories: readonly string[],
  uid: number | undefined,
): Promise<PlatformProgram | undefined> {
  for (const directory of directories)
    for (let at = directory; ; at = dirname(at)) {
      const found = await platformAt(at, uid);
      if (found !== undefined) return found;
      if (dirname(at) === at) break;
    }
  return undefined;
}

/** The first file of this release in these directories or above. */
export async function findPlatformFile(
  directories: readonly string[],
  uid: number | undefined,
): Promise<string | undefined> {
  for (const directory of directories)
    for (let at = directory; ; at = dirname(at)) {
      const file = join(at, platformFile);
      if (await isTrusted(file, uid)) return file;
      if (dirname(at) === at) break;
    }
  return undefined;
}

async function platformAt(directory: string, uid: number | undefined): Promise<PlatformProgram | undefined> {
  const host = join(directory, "runtime", "host", "main.ts");
  if ((await packageName(directory, uid)) === "weir" && (await isThere(host)))
    return { kind: "checkout", directory, installed: await isThere(join(directory, "node_modules")) };
  for (const above of [directory, join(directory, platformPrefix)]) {
    const installed = join(above, "node_modules", platformPackage);
    if ((await packageName(installed, uid)) === platformPackage)
      return { kind: "package", directory: installed, installed: true };
  }
  return undefined;
}

async function packageName(directory: string, uid: number | undefined): Promise<unknown> {
  const file = join(directory, "package.json");
  try {
    const { uid: owner } = await stat(file);
    if (uid !== undefined && owner !== uid && owner !== 0) return undefined;
    const value: unknown = JSON.parse(await readFile(file, "utf8"));
    return (value as { readonly name?: unknown } | null)?.name;
  } catch {
    return undefined;
  }
}

/** Whether it is there and belongs to this user or to root, as it would be run. */
function isTrusted(path: string, uid: number | undefined): Promise<boolean> {
  return stat(path).then(
    ({ uid: owner }) => uid === undefined || owner === uid || owner === 0,
    () => false,
  );
}

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
