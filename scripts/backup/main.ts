import { brokerCommand, runCommand, say, withBroker, type BrokerFlags } from "./command.ts";
import { openMachineBroker } from "./machine-broker.ts";
import { makeBackup } from "./make-backup.ts";

const command = brokerCommand(
  "backup",
  "Writes all that the broker keeps of Weir into a directory: calls, records, results, dead letters, on one machine also functions and namespaces. The platform may go on meanwhile. What is written is not encrypted.",
)
  .requiredOption("--to <directory>", "that is made; it is there only when the backup is whole")
  .action(({ to, only, ...flags }: BrokerFlags & { readonly to: string }) =>
    withBroker(
      flags,
      (data) => openMachineBroker(data, say),
      (broker) => makeBackup(broker, { to, only, say }),
    ),
  );

await runCommand(command);
