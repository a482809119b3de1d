import type { DatabaseSync } from "node:sqlite";

/**
 * Brings a database to the newest schema, each step in a transaction.
 * @throws Error if its schema is newer
 */
export function migrateSqlite(database: DatabaseSync, what: string, migrations: readonly string[]): void {
  const version = schemaVersion(database);
  if (version > migrations.length)
    throw new Error(`Cannot open ${what}: it is of schema ${version}, this release knows ${migrations.length}`);
  for (const [index, migration] of migrations.entries()) {
    if (index < version) continue;
    database.exec(`BEGIN IMMEDIATE; ${migration}; PRAGMA user_version = ${index + 1}; COMMIT`);
  }
}

function schemaVersion(database: DatabaseSync): number {
  return Number(database.prepare("PRAGMA user_version").get()?.["user_version"]);
}
