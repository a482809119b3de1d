import type { FunctionDeployment } from "../../api/schemas/function-deployment.ts";
import { PlatformError } from "../../api/platform-error.ts";
import { localKey } from "../../api/schemas/key-rules.ts";
import { keyPrefixes, localAnnotation } from "../../api/names.ts";
import { keyReader } from "../labels/key-reader.ts";
import { sentKey } from "../labels/keys.ts";

/** A folder of this machine that a function is run from, without an image. */
export interface LocalFolder {
  /** Absolute. */
  readonly path: string;
  /** Commands that are run once in a copy of it, in order. */
  readonly prepare: readonly string[];
}

/** Why a function cannot be run from the folder, as the state in an error sentence; undefined if it can. */
export type FolderFault = (path: string) => Promise<string | undefined>;

const folderKey = `${keyPrefixes[0]}${localAnnotation.folder}`;

/** The state of every provider but `local`. */
const needsLocal = `${folderKey} needs provider "local" and a Weir on the machine of the folder; build an image instead`;

/** Why a gateway that other machines can reach takes no folders: whoever may deploy could read any of this machine. */
export const needsLoopback = `${folderKey} needs a gateway that only this machine can reach; start it without --host`;

/**
 * The folder that the annotations name; undefined if none.
 * @throws PlatformError `validation_failed` for a value that cannot be used, or `local.prepare` without a folder
 */
export function localFolder(annotations: FunctionDeployment["annotations"]): LocalFolder | undefined {
  const read = keyReader("annotation", annotations);
  const path = read(localKey.folder);
  const prepare = read(localKey.prepare);
  if (path !== undefined) return { path, prepare: prepare ?? [] };
  if (prepare === undefined) return undefined;
  const key = sentKey(annotations, localAnnotation.prepare) ?? localAnnotation.prepare;
  throw new PlatformError("validation_failed", `Cannot read annotation "${key}": it needs ${folderKey}`);
}

/**
 * Checks that the function can be run from its folder, if it names one; `fault` is undefined where no function can.
 * @throws PlatformError `validation_failed`
 */
export async function checkLocalFolder(deployment: FunctionDeployment, fault: FolderFault | undefined): Promise<void> {
  if (fault === undefined) return refuseLocalFolder(deployment);
  const folder = localFolder(deployment.annotations);
  if (folder === undefined) return;
  const state = await fault(folder.path);
  if (state !== undefined) throw refusal(deployment, state);
}

/**
 * Refuses a function that names a folder: its provider runs images.
 * @throws PlatformError `validation_failed`
 */
export function refuseLocalFolder(deployment: FunctionDeployment): void {
  if (localFolder(deployment.annotations) !== undefined) throw refusal(deployment, needsLocal);
}

function refusal({ service }: FunctionDeployment, state: string): PlatformError {
  return new PlatformError("validation_failed", `Cannot deploy function "${service}": ${state}`);
}
