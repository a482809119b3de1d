import type { Engine } from "../../../core/ports/engine.ts";
import { openLocalProvider, type LocalProviderOptions } from "./open-local-provider.ts";

/** Replicas are processes of this machine, which needs nothing else for them. */
export function localEngine(holdLock: LocalProviderOptions["holdLock"]): Engine {
  return {
    look: () => Promise.resolve({}),
    open: ({ run, secrets, logs }) => openLocalProvider({ data: run, secrets, logs, holdLock }),
  };
}
