import type { CommandEntry } from "./command-spec.ts";
import { accessCommands } from "./commands/access/access-commands.ts";
import { callCommands } from "./commands/calls/call-commands.ts";
import { functionCommands } from "./commands/functions/function-commands.ts";
import { iamCommands } from "./commands/iam/iam-commands.ts";
import { moveCommands } from "./commands/moves/move-commands.ts";
import { namespaceCommands } from "./commands/namespaces/namespace-commands.ts";
import { projectCommands } from "./commands/projects/project-commands.ts";
import { queueCommands } from "./commands/queues/queue-commands.ts";
import { secretCommands } from "./commands/secrets/secret-commands.ts";
import { systemCommands } from "./commands/system/system-commands.ts";

/** Every command, in the order of the help: its words and its line there. What it does is imported when it is called. */
export const commandTree: readonly CommandEntry[] = [
  ...projectCommands,
  ...functionCommands,
  ...callCommands,
  ...queueCommands,
  ...secretCommands,
  ...namespaceCommands,
  ...accessCommands,
  ...iamCommands,
  ...moveCommands,
  ...systemCommands,
];
