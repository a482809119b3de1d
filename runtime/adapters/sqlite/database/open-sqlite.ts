import { constants } from "node:fs";
import { mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { migrateSqlite } from "./migrate-sqlite.ts";
import { isDamage, readDamageMark, setDamagedAside, setDamagedAsideToRefill } from "./sqlite-damage.ts";

/** What a file is expected to hold. */
export interface SqliteSchema {
  /** Completes the sentence "Cannot open …". */
  readonly what: string;
  /** What leads from each schema to the next; there are as many schemas. */
  readonly migrations: readonly string[];
  /** Statements that read the first and last entry of each table and index. */
  readonly probes: readonly string[];
  /** Whether a new file is filled with what the damaged one before has. */
  readonly isRefillable?: boolean;
}

export interface OpenedSqlite {
  readonly database: DatabaseSync;
  /** A sentence, if a damaged file was moved. */
  readonly movedAside: string | undefined;
}

/** Pages of 4 KiB in the log at which it is written into the file: 16 MiB. */
const logPages = 4_096;
const settings = [
  // It can only be set before the first table exists.
  "PRAGMA auto_vacuum = INCREMENTAL",
  "PRAGMA journal_mode = WAL",
  // A power cut costs the last transactions, which are read again; it damages nothing.
  "PRAGMA synchronous = NORMAL",
  `PRAGMA wal_autocheckpoint = ${logPages}`,
  `PRAGMA journal_size_limit = ${logPages * 4_096}`,
  "PRAGMA cache_size = -6144",
];
/** Milliseconds to wait for a reader that recovers the log. */
const busyTimeout = 5_000;

/**
 * Opens a file for its one writer, of mode 0600 and with the schema of this release. A damaged file is moved aside, and
 * a new one begun. Damage is looked for where it takes milliseconds whatever the size: header, length, schema, and both
 * ends of each tree; what lies deeper is found by the statement that meets it, which marks the file.
 * @throws Error if the schema is of a later release
 */
export async function openSqlite(file: string, schema: SqliteSchema): Promise<OpenedSqlite> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const move = schema.isRefillable === true ? setDamagedAsideToRefill : setDamagedAside;
  const marked = await readDamageMark(file);
  const movedAside = marked === undefined ? undefined : await move(file, marked);
  try {
    return { database: await openChecked(file, schema), movedAside };
  } catch (err) {
    if (!isDamage(err)) throw err;
    const moved = await move(file, err.message);
    return { database: await openChecked(file, schema), movedAside: moved };
  }
}

async function openChecked(file: string, { what, migrations, probes }: SqliteSchema): Promise<DatabaseSync> {
  // SQLite gives its log the mode of the file.
  const created = await open(file, constants.O_RDWR | constants.O_CREAT, 0o600);
  try {
    await created.chmod(0o600);
  } finally {
    await created.close();
  }
  const database = new DatabaseSync(file, { timeout: busyTimeout });
  try {
    for (const setting of settings) database.exec(setting);
    migrateSqlite(database, what, migrations);
    for (const probe of probes) database.prepare(probe).all();
    return database;
  } catch (err) {
    database.close();
    throw err;
  }
}
