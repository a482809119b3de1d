import { join } from "node:path";

import { Command, Option } from "commander";

import { natsOptions } from "../../runtime/adapters/nats/open-nats.ts";
import { historySocket } from "../../runtime/api/schemas/history/history-wire.ts";
import { dataLayout } from "../../runtime/host/data-directory.ts";
import { brokerSettings, brokerUserRule } from "../../runtime/settings/platform-settings.ts";
import { collectSettings, flagName, SettingsError } from "../../runtime/settings/read-settings.ts";
import { environment } from "../../runtime/process/settings.ts";
import { openBroker, type Broker } from "./broker.ts";
import { doctor, type MachineBroker } from "./machine-broker.ts";

/** Flags of both commands. */
export interface BrokerFlags {
  readonly data?: string;
  readonly natsUrl?: string;
  readonly natsUser?: string;
  readonly natsPasswordFile?: string;
  readonly natsCaFile?: string;
  readonly natsTlsName?: string;
  readonly only?: readonly string[];
}

const { natsPingInterval: _natsPing, ...flagSettings } = brokerSettings;

/** A command with the flags that locate the broker. */
export function brokerCommand(name: string, about: string): Command {
  const command = new Command(`npm run --silent ${name} --`)
    .description(about)
    .option(
      "--data <directory>",
      "of one machine, e.g. .weir; its broker is found, or started for as long as this takes",
    );
  for (const { name: setting, about: meaning } of Object.values(flagSettings))
    command.addOption(new Option(`--${flagName(setting)} <value>`, meaning).conflicts("data"));
  return command
    .option("--nats-tls-name <name>", "name in the server's certificate, where it is reached by another one")
    .option("--only <stream...>", "only these streams, e.g. DLQ KV_calls, or the history")
    .helpOption("--help", "show this")
    .helpCommand(false);
}

/** Directory of the history's files; undefined where it is not on this machine. */
export function historyDirectoryOf({ data }: BrokerFlags): string | undefined {
  return data === undefined ? undefined : join(dataLayout(data).root, historySocket[0]);
}

/** Runs `act` with the broker that the flags name; settings not given come from the environment. */
export async function withBroker(
  flags: BrokerFlags,
  openMachine: (data: string) => Promise<MachineBroker>,
  act: (broker: Broker) => Promise<void>,
): Promise<void> {
  if (flags.data !== undefined) {
    await using machine = await openMachine(flags.data);
    await using broker = await openBroker({ ...machine.access });
    await untilSignal(broker, act);
    return;
  }
  const typed = Object.entries(flagSettings).map(([key, { name }]) => [flagName(name), Reflect.get(flags, key)]);
  const sources = { flags: Object.fromEntries(typed), environment: environment(), file: {} };
  const { values, problems } = collectSettings(brokerSettings, sources, [brokerUserRule]);
  if (problems.length > 0) throw new SettingsError(problems);
  const ca = flags.natsTlsName === undefined ? {} : { tlsName: flags.natsTlsName };
  await using broker = await openBroker({ ...natsOptions(values, "backup", doctor().inboxPrefix), ...ca });
  await untilSignal(broker, act);
}

/** A signal closes the connection, so that the command fails and cleans up as after any other failure. */
async function untilSignal(broker: Broker, act: (broker: Broker) => Promise<void>): Promise<void> {
  const stop = (): void => void broker.nc.close();
  const signals = ["SIGINT", "SIGTERM"] as const;
  for (const signal of signals) process.once(signal, stop);
  try {
    await act(broker);
  } finally {
    for (const signal of signals) process.off(signal, stop);
  }
}

/** Runs a command; an error is printed as a sentence, and the process then exits with 1. */
export async function runCommand(command: Command): Promise<void> {
  try {
    await command.parseAsync();
  } catch (err) {
    process.stderr.write(`${err instanceof Error ? err.message : String(err)}\n`);
    process.exitCode = 1;
  }
}

/** Prints progress to standard error, apart from the output. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
