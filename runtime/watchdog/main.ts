import { flushCompileCache } from "node:module";
import { parseArgs } from "node:util";

import { flagName, readSettings, SettingsError } from "../settings/read-settings.ts";
import { behind, readCommand } from "./command.ts";
import { FailureError } from "./failure-error.ts";
import { startHttpProcess } from "./http-process.ts";
import { connectParent, type Failure } from "./parent.ts";
import { ProcessGroups } from "./process-groups.ts";
import { processPerRequest } from "./process-per-request.ts";
import { runAs } from "./run-as.ts";
import { serveFunction } from "./serve-function.ts";
import { functionSettings, ownEnvironment, placeSettings } from "./settings.ts";

/** A process that is told to stop gets this long, within the grace. */
const processGrace = 2_000;

const log = (line: string): void => void process.stderr.write(`watchdog: ${line}\n`);
const groups = new ProcessGroups();
// Whatever ends the watchdog, no process of the function outlives it.
process.on("exit", () => groups.killAll());
// The reader of the log may be gone.
process.stdout.on("error", () => {});
process.stderr.on("error", () => {});
// Each process that writes may wait for it.
process.stderr.setMaxListeners(0);

const stop = new Promise<void>((resolve) => {
  for (const event of ["SIGTERM", "SIGINT", "disconnect"]) process.on(event, () => resolve());
});
const parent = connectParent(() => log("the process that started this one is gone, stopping"));

try {
  const options = Object.fromEntries(
    Object.values({ ...placeSettings, ...functionSettings }).map(
      ({ name }) => [flagName(name), { type: "string" }] as const,
    ),
  );
  const flags = parseArgs({ options }).values;
  const own = ownEnvironment();
  const place = readSettings(placeSettings, { flags, environment: own });
  const environment = withoutPort((await parent?.environment) ?? definedIn(own), place.port);
  const settings = readSettings(functionSettings, { flags, environment });
  // Kept for the next start while the directory can still be written to; all modules are loaded.
  flushCompileCache();
  if (place.runAs !== undefined) runAs(place.runAs);

  const command = behind(place.execPrefix, readCommand(settings.process, environment["PATH"] ?? ""));
  const common = { command, environment, groups, log, errors: process.stderr, execTimeout: settings.execTimeout };
  const handler =
    settings.mode === "http"
      ? await startHttpProcess({ ...common, upstreamUrl: settings.upstreamUrl, waiting })
      : processPerRequest({ ...common, contentType: settings.contentType });
  // In a container that it can be connected to is all that tells of a function that it takes calls.
  if (parent === undefined) await Promise.race([handler.started, handler.ended, stop]);
  const server = await serveFunction({ ...place, ...settings, handler });
  parent?.serving(server.port);

  const failure = await Promise.race([stop, handler.ended]);
  if (failure !== undefined) await end(failure, failure.code);
  const deadline = Date.now() + settings.writeTimeout;
  await server.drain(settings.writeTimeout);
  await handler.close(Math.min(processGrace, Math.max(0, deadline - Date.now())));
  process.exit(0);
} catch (err) {
  const expected = err instanceof FailureError || err instanceof SettingsError;
  const message = err instanceof Error ? (expected ? err.message : (err.stack ?? err.message)) : String(err);
  await end({ reason: err instanceof FailureError ? err.reason : "CannotRun", message }, 1);
}

function waiting(failure: Failure): void {
  log(failure.message);
  parent?.waiting(failure);
}

/** A container's `PORT` is where this process listens: the function's own is another. */
function withoutPort(environment: Readonly<Record<string, string>>, port: number): Readonly<Record<string, string>> {
  const { PORT: told, ...others } = environment;
  return Number(told) === port ? others : environment;
}

async function end(failure: Failure, code: number): Promise<never> {
  log(failure.message);
  await parent?.failed(failure);
  process.exit(code);
}

function definedIn(environment: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
