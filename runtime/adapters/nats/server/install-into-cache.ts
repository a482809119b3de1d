import { rm } from "node:fs/promises";

import type { InstallContext, InstallOutcome, InstallWay } from "./install-way.ts";
import { makeFreshDirectory, putIntoCache } from "./nats-server-cache.ts";

type NotInstalled = Exclude<InstallOutcome, { readonly kind: "installed" }>;

/** Installs a server in one way and moves it to `directory`, complete or not at all; never rejects. */
export async function installIntoCache(
  way: InstallWay,
  directory: string,
  context: InstallContext,
): Promise<{ readonly kind: "installed"; readonly path: string } | NotInstalled> {
  let fresh: string | undefined;
  try {
    fresh = await makeFreshDirectory(directory);
    const outcome = await way(fresh, context);
    return outcome.kind === "installed" ? { kind: "installed", path: await putIntoCache(fresh, directory) } : outcome;
  } catch (err) {
    return { kind: "failed", because: err instanceof Error ? err.message : String(err) };
  } finally {
    if (fresh !== undefined) await rm(fresh, { recursive: true, force: true });
  }
}
