import { flushCompileCache } from "node:module";

import { behind, readCommand } from "./command.ts";
import { watchdogFailure } from "./failure-error.ts";
import { startHttpProcess } from "./http/http-process.ts";
import { openOwnProcess } from "./own-process.ts";
import { connectParent, type Failure } from "./parent.ts";
import { ProcessGroups } from "./process-groups.ts";
import { processPerRequest } from "./process-per-request.ts";
import { runAs } from "./run-as.ts";
import { listenOnSocket, serveFunction } from "./serve-function.ts";
import { readWatchdog } from "./settings.ts";

/** Milliseconds that a process gets to stop, within the grace. */
const processGrace = 2_000;

const groups = new ProcessGroups();
// Whatever ends the watchdog, no process of the function outlives it.
const { log, stop } = openOwnProcess(() => groups.killAll());
const parent = connectParent(() => log("the process that started this one is gone, stopping"));

try {
  const { place, environment, settings } = await readWatchdog(parent?.environment);
  // Saved for the next start: all modules are loaded, and the directory can still be written to.
  flushCompileCache();
  // Where the user of the function may not go.
  const listening = place.listenSocket === undefined ? undefined : await listenOnSocket(place.listenSocket);
  if (place.runAs !== undefined) runAs(place.runAs);

  const command = behind(place.execPrefix, readCommand(settings.process, environment["PATH"] ?? "", place.runFolder));
  const common = { command, environment, groups, log, errors: process.stderr, execTimeout: settings.execTimeout };
  const handler =
    settings.mode === "http"
      ? await startHttpProcess({ ...common, ...settings, onAddress: parent?.inner, waiting })
      : processPerRequest({ ...common, contentType: settings.contentType });
  // In a container, accepting connections is the only sign that the function takes calls.
  if (parent === undefined) await Promise.race([handler.started, handler.ended, stop]);
  const server = await serveFunction({ ...place, ...settings, handler, server: listening });
  parent?.serving(server.port);

  const failure = await Promise.race([stop, handler.ended]);
  if (failure !== undefined) await end(failure, failure.code);
  const deadline = Date.now() + settings.writeTimeout;
  await server.drain(settings.writeTimeout);
  await handler.close(Math.min(processGrace, Math.max(0, deadline - Date.now())));
  process.exit(0);
} catch (err) {
  await end(watchdogFailure(err), 1);
}

function waiting(failure: Failure): void {
  log(failure.message);
  parent?.waiting(failure);
}

async function end(failure: Failure, code: number): Promise<never> {
  log(failure.message);
  await parent?.failed(failure);
  process.exit(code);
}
