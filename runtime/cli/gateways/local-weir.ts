import { lstat, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import { credentialFile } from "../../api/names.ts";
import type { GatewayCredentials } from "../client/gateway-credentials.ts";
import { gatewayAddress, isLoopbackAddress } from "./gateway-address.ts";

/** The data directory of a Weir on this machine, by its usual name. */
export interface LocalWeir {
  /** Absolute. */
  readonly directory: string;
  /** Where it listens; undefined while it does not run. */
  readonly address: string | undefined;
}

/** The first directory `.weir` in `directory` or above that belongs to this user and is no link. */
export async function findLocalWeir(directory: string, uid: number | undefined): Promise<LocalWeir | undefined> {
  for (let at = directory; ; at = dirname(at)) {
    const candidate = join(at, ".weir");
    if (await isOwn(candidate, "directory", uid))
      return { directory: candidate, address: await readAddress(candidate, uid) };
    if (dirname(at) === at) return undefined;
  }
}

/** Whether it listens at `address`, or may do so: nobody knows where it listens while it does not run. */
export function listensAt({ address: own }: LocalWeir, address: string): boolean {
  if (!isLoopbackAddress(address)) return false;
  if (own === undefined) return true;
  // Names of this machine differ.
  const [here, there] = [new URL(own), new URL(address)];
  return here.protocol === there.protocol && here.port === there.port;
}

/** The administrator's credentials of a Weir on this machine, if this user may read them. */
export async function localCredentials(
  { directory }: LocalWeir,
  uid: number | undefined,
): Promise<GatewayCredentials | undefined> {
  const read = async (name: string): Promise<string> => {
    const file = join(directory, "credentials", name);
    return (await isOwn(file, "file", uid)) ? (await readFile(file, "utf8").catch(() => "")).trim() : "";
  };
  const [user, password] = [await read(credentialFile.user), await read(credentialFile.password)];
  return user === "" || password === "" ? undefined : { kind: "basic", user, password };
}

async function readAddress(directory: string, uid: number | undefined): Promise<string | undefined> {
  const file = join(directory, "address");
  if (!(await isOwn(file, "file", uid))) return undefined;
  const text = await readFile(file, "utf8").then(
    (content) => content.trim(),
    () => "",
  );
  try {
    const address = gatewayAddress(text, file);
    return isLoopbackAddress(address) ? address : undefined;
  } catch {
    // Not what a Weir writes.
    return undefined;
  }
}

/** Whether it is a file or directory of this user, and not a link to one. */
async function isOwn(path: string, kind: "file" | "directory", uid: number | undefined): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined || (uid !== undefined && found.uid !== uid)) return false;
  return kind === "file" ? found.isFile() : found.isDirectory();
}
