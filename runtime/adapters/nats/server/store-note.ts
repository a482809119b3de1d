import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { PlatformError } from "../../../api/platform-error.ts";
import { writeFileDurably } from "../../../disk/durable-files.ts";
import { compareVersions, minorOf } from "./nats-server-version.ts";

/** What is noted beside a store: the version of the last server that used it, and its size limit in bytes. */
export interface StoreNote {
  readonly version: string;
  readonly maxFileStore: number;
}

const fileName = "store.json";

/** The note in `directory`; undefined at the first start. */
export async function readStoreNote(directory: string): Promise<StoreNote | undefined> {
  let content: unknown;
  try {
    content = JSON.parse(await readFile(join(directory, fileName), "utf8"));
  } catch {
    return undefined;
  }
  if (typeof content !== "object" || content === null || !("version" in content) || !("maxFileStore" in content))
    return undefined;
  return { version: String(content.version), maxFileStore: Number(content.maxFileStore) };
}

/** Writes the note; a power cut leaves the old one or the new one. */
export async function writeStoreNote(directory: string, note: StoreNote): Promise<void> {
  await writeFileDurably(join(directory, fileName), `${JSON.stringify(note)}\n`);
}

/**
 * Refuses a server whose minor version is older than the one that wrote the store: a downgrade can break a store while
 * the health check says ok.
 * @throws PlatformError `queue_unavailable`
 */
export function checkStoreVersion(noted: string, version: string): void {
  if (compareVersions(minorOf(version), minorOf(noted)) >= 0) return;
  throw new PlatformError(
    "queue_unavailable",
    `Cannot start nats-server ${version}: version ${noted} wrote the store, and going back can break it; ` +
      `use nats-server ${minorOf(noted)} or newer`,
  );
}
