import type { InstallContext, InstallOutcome } from "./install-way.ts";
import { installWithPip } from "./install-with-pip.ts";
import { lastComplaint, runCommand } from "./run-command.ts";

const probeTimeout = 30_000;
const updateTimeout = 180_000;
const installTimeout = 600_000;

/** As root on Debian and its derivatives: installs python3-pip with apt-get, says so, and gets the server with pip. */
export async function installWithApt(directory: string, context: InstallContext): Promise<InstallOutcome> {
  const environment = { ...context.environment, DEBIAN_FRONTEND: "noninteractive" };
  if (process.getuid?.() !== 0) return { kind: "no-tool", because: "apt-get needs root" };
  const probe = await runCommand("apt-get", ["--version"], { environment, timeout: probeTimeout });
  if (probe.code !== 0) return { kind: "no-tool", because: "apt-get is not there" };

  context.say("Installing the Debian package python3-pip with apt-get, to get nats-server with it (a minute or two) …");
  const updated = await runCommand("apt-get", ["update"], { environment, timeout: updateTimeout });
  if (updated.code !== 0) return { kind: "failed", because: `"apt-get update" failed: ${lastComplaint(updated)}` };
  const args = ["install", "-y", "--no-install-recommends", "python3-pip"];
  const installed = await runCommand("apt-get", args, { environment, timeout: installTimeout });
  if (installed.code !== 0) {
    return { kind: "failed", because: `"apt-get install python3-pip" failed: ${lastComplaint(installed)}` };
  }
  return installWithPip(directory, context);
}
