import type { CommandEntry } from "../../command-spec.ts";

/** Commands of queues and dead letters. */
export const queueCommands: readonly CommandEntry[] = [];
