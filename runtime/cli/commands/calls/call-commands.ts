import type { CommandEntry } from "../../command-spec.ts";

/** Commands of queued calls. */
export const callCommands: readonly CommandEntry[] = [];
