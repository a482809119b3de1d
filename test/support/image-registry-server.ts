import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { findTool, installedTool } from "../../scripts/debian-tool.ts";
import { eventually } from "./eventually.ts";
import { freePort } from "./free-port.ts";
import { killAtExit } from "./kill-at-exit.ts";
import { say } from "./say.ts";
import { tempDirectory } from "./temp-directory.ts";

/** A real registry on loopback with its own store. */
export interface RegistryServer extends AsyncDisposable {
  /** `host:port`, for references. */
  readonly host: string;
}

/** Why there is no registry server here, also printed; undefined if there is one. As root on Debian it is installed. */
export function noRegistryServer(): string | undefined {
  if (installedTool("docker-registry", "docker-registry", say) !== undefined) return undefined;
  const reason = '"docker-registry" is missing';
  say(`Skipped: tests with a registry server; ${reason}`);
  return reason;
}

/** Starts one; disposal removes it and its store. */
export async function openRegistryServer(): Promise<RegistryServer> {
  const directory = await tempDirectory("registry");
  const host = `127.0.0.1:${await freePort()}`;
  const settings = join(directory.path, "config.json");
  await writeFile(
    settings,
    JSON.stringify({
      version: 0.1,
      log: { level: "error" },
      storage: { filesystem: { rootdirectory: join(directory.path, "store") } },
      http: { addr: host },
    }),
  );
  const child = spawn(findTool("docker-registry") ?? "docker-registry", ["serve", settings], { stdio: "ignore" });
  killAtExit(child);
  const exited = once(child, "exit");
  const close = async (): Promise<void> => {
    child.kill("SIGKILL");
    await exited;
    await directory.remove();
  };
  try {
    await eventually(async () => (await fetch(`http://${host}/v2/`)).ok, { what: "the registry" });
  } catch (err) {
    await close();
    throw err;
  }
  return { host, [Symbol.asyncDispose]: close };
}
