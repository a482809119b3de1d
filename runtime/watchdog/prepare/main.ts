import { once } from "node:events";
import { parseArgs } from "node:util";

import { behind, readCommand } from "../command.ts";
import { FailureError, watchdogFailure } from "../failure-error.ts";
import { openOwnProcess } from "../own-process.ts";
import { connectParent } from "../parent.ts";
import { ProcessGroups } from "../process-groups.ts";
import { runAs } from "../run-as.ts";

// Runs the commands that prepare a function's folder, one after the other in this directory, until one fails.
const groups = new ProcessGroups();
const { stop } = openOwnProcess(() => groups.killAll());
const parent = connectParent(() => process.exit(1));
void stop.then(() => process.exit(1));

try {
  const options = {
    "run-as": { type: "string" },
    "run-folder": { type: "string" },
    "exec-prefix": { type: "string" },
  } as const;
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const environment = (await parent?.environment) ?? {};
  if (values["run-as"] !== undefined) runAs(values["run-as"]);
  for (const text of positionals) {
    process.stdout.write(`$ ${text}\n`);
    await run(text, values, environment);
  }
  process.exit(0);
} catch (err) {
  await parent?.failed(watchdogFailure(err));
  process.exit(1);
}

async function run(
  text: string,
  flags: { readonly "exec-prefix"?: string | undefined; readonly "run-folder"?: string | undefined },
  environment: Readonly<Record<string, string>>,
): Promise<void> {
  const words = readPrepareCommand(text, environment["PATH"] ?? "", flags["run-folder"]);
  // Both outputs are one: two pipes would be read in any order.
  const child = groups.start(behind(flags["exec-prefix"], words), { env: environment, stdio: ["ignore", 1, 1] });
  const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
  if (code === 0) return;
  const how = code === null ? `was ended by ${signal ?? "a signal"}` : `ended with code ${code}`;
  throw new FailureError("PrepareFailed", `${JSON.stringify(text)} ${how}`);
}

/** The sentences of `readCommand` are about the process that serves the function. */
function readPrepareCommand(text: string, path: string, folder: string | undefined) {
  try {
    return readCommand(text, path, folder);
  } catch (err) {
    if (!(err instanceof FailureError)) throw err;
    const reason = err.message.replace(/^Cannot run the function: (?:its process )?/, "");
    throw new FailureError("PrepareFailed", `${JSON.stringify(text)} cannot be run: ${reason}`);
  }
}
