import type { CommandEntry } from "../../command-spec.ts";

/** Commands of namespaces. */
export const namespaceCommands: readonly CommandEntry[] = [];
