import { PlatformError } from "../../../../api/platform-error.ts";
import { engineSocket, expectedEngine, parseEngineAddress } from "../../../../api/engine-address.ts";
import { EngineClient } from "./engine-client.ts";

/**
 * Address of the engine: `named`, else `dockerHost` (the value of `DOCKER_HOST`), else the standard socket. It is a
 * path or `tcp://host:port`.
 * @throws PlatformError `validation_failed` for any other kind of address
 */
export function engineAddress(named: string | undefined, dockerHost: string | undefined): string {
  const [source, address] = named ? ["docker_socket", named] : ["DOCKER_HOST", dockerHost];
  if (address === undefined || address === "") return engineSocket;
  const parsed = parseEngineAddress(address);
  if (parsed !== undefined) return parsed;
  throw new PlatformError(
    "validation_failed",
    `Cannot use the container engine at "${address}" (${source}): expected ${expectedEngine}`,
  );
}

/** What names the engine, if anything does: the setting, or the variable that the engine's own commands read. */
export function engineNamedBy(
  named: string | undefined,
  dockerHost: string | undefined,
): "docker_socket" | "DOCKER_HOST" | undefined {
  return named ? "docker_socket" : dockerHost ? "DOCKER_HOST" : undefined;
}

/**
 * Checks that functions can run on the engine; returns its number of processors.
 * @throws PlatformError `provider_unavailable` when it does not respond, or its containers cannot be reached from here
 */
export async function checkEngine(engine: EngineClient): Promise<{ readonly cpus: number }> {
  await engine.ping();
  const { body: info } = await engine.call<EngineInfo>("GET", "/info");
  const isRootless = info?.SecurityOptions?.some((option) => option.includes("rootless")) === true;
  const reason =
    process.platform !== "linux" ? "this system is not Linux" : isRootless ? "it runs without root" : undefined;
  if (reason !== undefined) {
    throw new PlatformError(
      "provider_unavailable",
      `Cannot use the container engine: ${reason}, and its containers cannot be reached from this host; choose --provider local`,
    );
  }
  return { cpus: info?.NCPU ?? 1 };
}

/** Why functions cannot run on the engine at `address`, as a sentence; undefined when they can. */
export async function engineTrouble(address: string): Promise<string | undefined> {
  const engine = new EngineClient(address);
  try {
    await checkEngine(engine);
    return undefined;
  } catch (err) {
    return err instanceof Error ? err.message : String(err);
  } finally {
    await engine.close();
  }
}

interface EngineInfo {
  readonly NCPU?: number;
  readonly SecurityOptions?: readonly string[] | null;
}
