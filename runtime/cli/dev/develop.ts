import { once } from "node:events";
import { resolve } from "node:path";

import { CliError } from "../cli-error.ts";
import { chooseFunctions, type ChoiceOptions, type ChosenFunctions } from "../deploy/plan/choose-functions.ts";
import { exitCode } from "../exit-code.ts";
import { deploySaved, type DevSession } from "./deploy-saved.ts";
import { keysLine, listenToKeys, type DevKey } from "./dev-keys.ts";
import { inspectedProject } from "./inspected-project.ts";
import { SavedDeployments } from "./saved-deployments.ts";
import { WatchedProject, type ProjectChange } from "./watch/watch-project.ts";

export interface DevelopOptions extends ChoiceOptions {
  readonly inspect: boolean;
}

/** Why it ends by itself. */
type DevEnd = { readonly kind: "quit" } | { readonly kind: "failed"; readonly error: unknown };

/**
 * Deploys functions of the project, and again each time that they are saved, until a key, the signal or `ended`.
 * @param ended resolves when the gateway is gone, to a sentence
 * @throws CliError when it ends by anything but a key
 */
export async function develop(
  session: DevSession,
  chosen: ChosenFunctions,
  named: readonly string[],
  options: DevelopOptions,
  ended: Promise<string> | undefined,
): Promise<void> {
  const { context, stream } = session;
  const { terminal } = context;
  const { signal } = terminal;
  const end = Promise.withResolvers<DevEnd>();
  const fail = (error: unknown): void => end.resolve({ kind: "failed", error });
  let current = chosen;
  const deployments = new SavedDeployments((name, superseded) => {
    const { project } = current;
    return deploySaved(session, options.inspect ? inspectedProject(project) : project, name, superseded);
  }, fail);
  const readAgain = async (): Promise<void> => {
    try {
      current = await chooseFunctions(terminal, named, options);
    } catch (err) {
      if (!(err instanceof CliError)) throw err;
      return stream.say(`${err.message}\nwhat runs stays as it is`);
    }
    stream.expect(current.names);
    await watched.set(current.project, current.names);
    for (const name of current.names) deployments.start(name);
  };
  let reading = Promise.resolve();
  const onChange = (change: ProjectChange): void => {
    if (change.kind === "functions") for (const name of change.names) deployments.start(name);
    else reading = reading.then(readAgain).catch(fail);
  };
  const watched = new WatchedProject({
    onChange,
    onError: (sentence) => stream.say(sentence),
    environmentFiles: (options.envFile ?? []).map((file) => resolve(terminal.directory, file)),
  });
  const onKey = (key: DevKey): void => {
    switch (key) {
      case "logs":
        return stream.toggleLogs();
      case "clear":
        return stream.clear();
      case "quit":
        return end.resolve({ kind: "quit" });
      case "interrupt":
        return fail(new CliError(exitCode.interrupted, "Interrupted"));
      default:
        return key satisfies never;
    }
  };
  const isWatchedByPerson = terminal.isTerminal.stdin && terminal.isTerminal.stdout;
  const stopKeys = isWatchedByPerson ? listenToKeys(terminal, onKey) : (): void => {};
  context.onClose(async () => {
    stopKeys();
    watched.close();
  });
  void ended?.then((why) => fail(new CliError(exitCode.unavailable, `Cannot go on: Weir is gone: ${why}`)));
  if (isWatchedByPerson) stream.say(keysLine);
  for (const sentence of current.left) stream.say(sentence);
  await watched.set(current.project, current.names);
  for (const name of current.names) deployments.start(name);
  const aborted = signal.aborted ? Promise.resolve() : once(signal, "abort");
  const outcome = await Promise.race([end.promise, aborted.then((): DevEnd => ({ kind: "quit" }))]);
  if (outcome.kind === "failed") throw outcome.error;
}
