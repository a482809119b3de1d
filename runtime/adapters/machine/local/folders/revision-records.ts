import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";

import { formatRef, type FunctionRef } from "../../../../core/functions/function-ref.ts";
import { isSnapshotName } from "../../../../core/folders/snapshot-name.ts";
import { makeDirectoryDurably, unfinishedSuffix, writeFileDurably } from "../../../../disk/durable-files.ts";

/** Which snapshot a revision of a function runs. */
export interface RevisionRecord {
  readonly revision: string;
  /** Of the snapshot. */
  readonly name: string;
}

/** The records of all functions, one file `<name>.<namespace>` each. */
export class RevisionRecords {
  readonly #directory: string;
  readonly #records: Map<string, RevisionRecord>;

  private constructor(directory: string, records: Map<string, RevisionRecord>) {
    this.#directory = directory;
    this.#records = records;
  }

  static async open(directory: string): Promise<RevisionRecords> {
    await makeDirectoryDurably(directory);
    const records = new Map<string, RevisionRecord>();
    for (const file of await readdir(directory)) {
      const record = file.endsWith(unfinishedSuffix)
        ? undefined
        : recordIn(await readFile(join(directory, file), "utf8"));
      // What cannot be read is made again.
      if (record === undefined) await rm(join(directory, file));
      else records.set(file, record);
    }
    return new RevisionRecords(directory, records);
  }

  of(ref: FunctionRef): RevisionRecord | undefined {
    return this.#records.get(formatRef(ref));
  }

  /** Of all snapshots that a record names. */
  names(): readonly string[] {
    return [...this.#records.values()].map(({ name }) => name);
  }

  functions(): readonly FunctionRef[] {
    return [...this.#records.keys()].map((key) => {
      const [name = "", namespace = ""] = key.split(".");
      return { name, namespace };
    });
  }

  async write(ref: FunctionRef, record: RevisionRecord): Promise<void> {
    await writeFileDurably(join(this.#directory, formatRef(ref)), JSON.stringify(record));
    this.#records.set(formatRef(ref), record);
  }

  async remove(ref: FunctionRef): Promise<void> {
    await rm(join(this.#directory, formatRef(ref)), { force: true });
    this.#records.delete(formatRef(ref));
  }
}

function recordIn(text: string): RevisionRecord | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || !("revision" in value) || !("name" in value)) return undefined;
    const { revision, name } = value;
    if (typeof revision !== "string" || typeof name !== "string" || !isSnapshotName(name)) return undefined;
    return { revision, name };
  } catch {
    // Truncated, as its writer was killed.
    return undefined;
  }
}
