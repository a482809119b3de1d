import type { Engine } from "../../../core/ports/engine.ts";
import { openLocalProvider, type LocalProviderOptions } from "./open-local-provider.ts";

/**
 * Runs replicas as processes of this machine, with no further requirements. `tools` is the environment of commands that
 * prepare folders; functions that are run from folders find programs on its `PATH`.
 */
export function localEngine(
  holdLock: LocalProviderOptions["holdLock"],
  tools: Readonly<Record<string, string>>,
): Engine {
  return {
    look: () => Promise.resolve({}),
    open: ({ data, run, secrets, logs, snapshots }) =>
      openLocalProvider({ data: run, secrets, logs, holdLock, folders: { data, snapshots, tools } }),
  };
}
