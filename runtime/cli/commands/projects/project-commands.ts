import type { CommandEntry } from "../../command-spec.ts";

/** Commands of a folder of code: init, dev, build, up, deploy, schema. */
export const projectCommands: readonly CommandEntry[] = [];
