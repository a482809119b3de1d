import { PlatformError } from "../../api/platform-error.ts";
import { engineSocket, parseUnixSocket } from "../../api/unix-socket.ts";
import { EngineClient } from "./engine-client.ts";

/**
 * The path of the engine's socket: `address` is a path or `unix://` and a path; the standard one when absent.
 * @throws PlatformError `validation_failed` for another kind of address
 */
export function dockerSocket(address: string | undefined): string {
  if (address === undefined || address === "") return engineSocket;
  const path = parseUnixSocket(address);
  if (path !== undefined) return path;
  throw new PlatformError(
    "validation_failed",
    `Cannot use the container engine at "${address}": expected the path of a unix socket such as unix://${engineSocket}`,
  );
}

/**
 * Makes sure that this version can run functions on the engine; gives its number of processors.
 * @throws PlatformError `provider_unavailable` when it does not answer, or its containers cannot be reached from here
 */
export async function checkEngine(engine: EngineClient): Promise<{ readonly cpus: number }> {
  await engine.ping();
  const { body: info } = await engine.call<EngineInfo>("GET", "/info");
  const isRootless = info?.SecurityOptions?.some((option) => option.includes("rootless")) === true;
  const why =
    process.platform !== "linux" ? "this system is not Linux" : isRootless ? "it runs without root" : undefined;
  if (why !== undefined) {
    throw new PlatformError(
      "provider_unavailable",
      `Cannot use the container engine: ${why}, and its containers cannot be reached from this host; choose --provider local`,
    );
  }
  return { cpus: info?.NCPU ?? 1 };
}

/** Whether an engine on which functions can run answers there. */
export async function dockerAnswers(socket: string): Promise<boolean> {
  const engine = new EngineClient(socket);
  try {
    await checkEngine(engine);
    return true;
  } catch {
    return false;
  } finally {
    await engine.close();
  }
}

interface EngineInfo {
  readonly NCPU?: number;
  readonly SecurityOptions?: readonly string[] | null;
}
