import type { CommandEntry } from "../../command-spec.ts";

/** Commands that say which gateway is meant, and who calls it. */
export const accessCommands: readonly CommandEntry[] = [];
