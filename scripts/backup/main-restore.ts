import { brokerCommand, historyDirectoryOf, runCommand, say, withBroker, type BrokerFlags } from "./command.ts";
import { startMachineBroker } from "./machine-broker.ts";
import { restoreBackup } from "./restore-backup.ts";

interface RestoreFlags extends BrokerFlags {
  readonly from: string;
  readonly replace?: boolean;
}

const command = brokerCommand(
  "restore",
  "Restores a backup to a broker. The platform must be stopped: gateways, queue-workers, queue-doctor, autoscaler and history, or the Weir of the data directory.",
)
  .requiredOption(
    "--from <directory>",
    "directory of the backup; every file is compared with its hash before anything is changed",
  )
  .option("--replace", "first removes existing streams, and a history, that are in the backup, with their content")
  .action(({ from, only, replace = false, ...flags }: RestoreFlags) =>
    withBroker(
      flags,
      (data) => startMachineBroker(data, say),
      (broker) => restoreBackup(broker, { from, only, replace, historyDirectory: historyDirectoryOf(flags), say }),
    ),
  );

await runCommand(command);
