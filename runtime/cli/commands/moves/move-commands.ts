import type { CommandEntry } from "../../command-spec.ts";

/** Commands that move functions into Weir and out of it. */
export const moveCommands: readonly CommandEntry[] = [];
