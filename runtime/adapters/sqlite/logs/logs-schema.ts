import type { SqliteSchema } from "../database/open-sqlite.ts";

/** Schema 1. Times are `at` in Unix milliseconds and `nanos` within it; those of a replica are how far it was kept. */
const schema1 = `
CREATE TABLE function (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  namespace TEXT NOT NULL,
  name TEXT NOT NULL,
  lines INTEGER NOT NULL DEFAULT 0,
  bytes INTEGER NOT NULL DEFAULT 0,
  UNIQUE (namespace, name)
) STRICT;
CREATE INDEX function_by_bytes ON function (bytes);

CREATE TABLE replica (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  fn INTEGER NOT NULL,
  name TEXT NOT NULL,
  at INTEGER NOT NULL,
  nanos INTEGER NOT NULL,
  number INTEGER NOT NULL,
  UNIQUE (fn, name)
) STRICT;
CREATE INDEX replica_by_function ON replica (fn, at);
CREATE INDEX replica_by_time ON replica (at);

CREATE TABLE line (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  fn INTEGER NOT NULL,
  replica INTEGER NOT NULL,
  at INTEGER NOT NULL,
  nanos INTEGER NOT NULL,
  size INTEGER NOT NULL,
  text TEXT NOT NULL
) STRICT;
CREATE INDEX line_by_function ON line (fn, at, nanos);
CREATE INDEX line_by_replica ON line (replica, at, nanos);
CREATE INDEX line_by_time ON line (at)
`;

/** Schema 2: where a line was written to, 1 = stdout, 2 = stderr, null = not known. */
const schema2 = "ALTER TABLE line ADD COLUMN stream INTEGER";

const ends = ["ASC", "DESC"];

/** The file of kept logs. */
export const logsSchema: SqliteSchema = {
  what: "kept logs",
  migrations: [schema1, schema2],
  probes: [
    ...ends.map((end) => `SELECT * FROM line ORDER BY seq ${end} LIMIT 1`),
    ...ends.map((end) => `SELECT fn FROM line INDEXED BY line_by_function ORDER BY fn ${end}, at ${end} LIMIT 1`),
    ...ends.map((end) => `SELECT at FROM line INDEXED BY line_by_replica ORDER BY replica ${end}, at ${end} LIMIT 1`),
    ...ends.map((end) => `SELECT at FROM line INDEXED BY line_by_time ORDER BY at ${end} LIMIT 1`),
    ...ends.map((end) => `SELECT * FROM replica ORDER BY id ${end} LIMIT 1`),
    "SELECT * FROM function",
  ],
};
