import type { CommandEntry } from "../../command-spec.ts";

/** Commands about this program and the gateway as a whole. */
export const systemCommands: readonly CommandEntry[] = [];
