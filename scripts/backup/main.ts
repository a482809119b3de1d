import { brokerCommand, historyDirectoryOf, runCommand, say, withBroker, type BrokerFlags } from "./command.ts";
import { openMachineBroker } from "./machine-broker.ts";
import { makeBackup } from "./make-backup.ts";

const command = brokerCommand(
  "backup",
  "Writes everything that the broker stores for Weir to a directory: calls, records, results, kept requests, dead letters, on one machine also functions, namespaces and the history of calls. The platform may keep running. The backup is not encrypted.",
)
  .requiredOption("--to <directory>", "directory to create; it exists only once the backup is complete")
  .action(({ to, only, ...flags }: BrokerFlags & { readonly to: string }) =>
    withBroker(
      flags,
      (data) => openMachineBroker(data, say),
      (broker) => makeBackup(broker, { to, only, historyDirectory: historyDirectoryOf(flags), say }),
    ),
  );

await runCommand(command);
