import type { Engine } from "../../../core/ports/engine.ts";
import { openLocalProvider, type LocalProviderOptions } from "./open-local-provider.ts";

/** Runs replicas as processes of this machine, with no further requirements. */
export function localEngine(holdLock: LocalProviderOptions["holdLock"]): Engine {
  return {
    look: () => Promise.resolve({}),
    open: ({ run, secrets, logs }) => openLocalProvider({ data: run, secrets, logs, holdLock }),
  };
}
