import type { InstallContext, InstallOutcome } from "./install-way.ts";
import { pinnedVersion } from "./nats-server-version.ts";
import { lastComplaint, runCommand } from "./run-command.ts";

/** A release of the server, and the hash of its Go module's files as in a go.sum. */
export interface NatsServerModule {
  readonly version: string;
  readonly hash: string;
}

const pinned: NatsServerModule = {
  version: pinnedVersion,
  hash: "h1:fK3AeYFIji1Smng60jB0hVoAPZezA/UzsaI3BqXFNEI=",
};

const probeTimeout = 30_000;
const downloadTimeout = 300_000;
const buildTimeout = 900_000;

/** Builds the pinned server. */
export function installWithGo(directory: string, context: InstallContext): Promise<InstallOutcome> {
  return buildWithGo(pinned, directory, context);
}

/** Builds a server from its Go module, whose hash must be `hash`; those of its dependencies are in its go.sum. */
export async function buildWithGo(
  { version, hash }: NatsServerModule,
  directory: string,
  context: InstallContext,
): Promise<InstallOutcome> {
  const module = `github.com/nats-io/nats-server/v2@v${version}`;
  const environment = { ...context.environment, GOBIN: directory, CGO_ENABLED: "0" };
  const probe = await runCommand("go", ["version"], { environment, directory, timeout: probeTimeout });
  if (probe.code !== 0) return { kind: "no-tool", because: "Go is not there" };

  context.say(`Building nats-server ${version} with Go (two or three minutes) …`);
  const options = { environment, directory, timeout: downloadTimeout };
  const downloaded = await runCommand("go", ["mod", "download", "-json", module], options);
  if (downloaded.code !== 0) return failed(`Go could not download ${module}: ${lastComplaint(downloaded)}`);
  const found = sumOf(downloaded.stdout);
  if (found !== hash) return failed(`${module} has hash ${found ?? "unknown"} instead of ${hash}`);

  const built = await runCommand("go", ["install", "-trimpath", "-ldflags=-s -w", module], {
    ...options,
    timeout: buildTimeout,
  });
  return built.code === 0 ? { kind: "installed" } : failed(`Go could not build ${module}: ${lastComplaint(built)}`);
}

function sumOf(output: string): string | undefined {
  try {
    const parsed: unknown = JSON.parse(output);
    return typeof parsed === "object" && parsed !== null && "Sum" in parsed ? String(parsed.Sum) : undefined;
  } catch {
    return undefined;
  }
}

function failed(because: string): InstallOutcome {
  return { kind: "failed", because };
}
