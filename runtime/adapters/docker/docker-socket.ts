import { PlatformError } from "../../api/platform-error.ts";
import { EngineClient } from "./engine-client.ts";

const standard = "/var/run/docker.sock";

/**
 * The path of the engine's socket: `address` is a path or `unix://` and a path; the standard one when absent.
 * @throws PlatformError `validation_failed` for another kind of address
 */
export function dockerSocket(address: string | undefined): string {
  if (address === undefined || address === "") return standard;
  const path = address.replace(/^unix:\/\//, "");
  if (path.startsWith("/")) return path;
  throw new PlatformError(
    "validation_failed",
    `Cannot use the container engine at "${address}": expected the path of a unix socket such as unix://${standard}`,
  );
}

/** Whether an engine that this version can use answers there. */
export async function dockerAnswers(socket: string): Promise<boolean> {
  const engine = new EngineClient(socket);
  try {
    await engine.ping();
    return true;
  } catch {
    return false;
  } finally {
    await engine.close();
  }
}
