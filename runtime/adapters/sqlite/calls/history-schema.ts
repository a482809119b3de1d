import type { SqliteSchema } from "../database/open-sqlite.ts";

/**
 * Schema 1. `word` has names of queues and of sources of rollups. Codes of `call` are those of `call-codes.ts`: the open
 * states are below 3, which is `done`. Steps of `rollup` are 0, 1, 2 for 10s, 1m, 1h; its function 0 is all of them.
 */
const schema1 = `
CREATE TABLE function (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  namespace TEXT NOT NULL,
  name TEXT NOT NULL,
  calls INTEGER NOT NULL DEFAULT 0,
  UNIQUE (namespace, name)
) STRICT;
CREATE TABLE word (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE progress (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  position TEXT,
  rollups_since INTEGER NOT NULL
) STRICT;
INSERT INTO progress (one, rollups_since) VALUES (1, 0);

CREATE TABLE call (
  seq INTEGER PRIMARY KEY,
  id BLOB NOT NULL,
  revision INTEGER NOT NULL,
  accepted INTEGER NOT NULL,
  fn INTEGER NOT NULL,
  queue INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  state INTEGER NOT NULL,
  status INTEGER,
  reason TEXT,
  source INTEGER NOT NULL,
  ended INTEGER,
  wait REAL,
  duration REAL,
  cold_start REAL,
  retries INTEGER NOT NULL,
  replay_of BLOB,
  details TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX call_by_id ON call (id);
CREATE INDEX call_by_time ON call (accepted, id);
CREATE INDEX call_by_function ON call (fn, accepted, id);
CREATE INDEX call_by_state ON call (state, accepted, id) WHERE state <> 3;
CREATE INDEX call_open ON call (id) WHERE state < 3;
CREATE INDEX call_by_replay ON call (replay_of, accepted, id) WHERE replay_of IS NOT NULL;

CREATE TABLE state_count (state INTEGER PRIMARY KEY, calls INTEGER NOT NULL) STRICT;
CREATE TABLE minute_count (minute INTEGER PRIMARY KEY, calls INTEGER NOT NULL) STRICT;

CREATE TABLE tombstone (
  id BLOB PRIMARY KEY,
  revision INTEGER,
  written INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX tombstone_removed ON tombstone (written) WHERE revision IS NULL;
CREATE INDEX tombstone_withdrawn ON tombstone (written) WHERE revision IS NOT NULL;

CREATE TABLE gap (since INTEGER PRIMARY KEY, until INTEGER NOT NULL) STRICT;

CREATE TABLE rollup (
  step INTEGER NOT NULL,
  fn INTEGER NOT NULL,
  at INTEGER NOT NULL,
  source INTEGER NOT NULL,
  calls INTEGER NOT NULL,
  counts TEXT NOT NULL,
  PRIMARY KEY (step, fn, at, source)
) STRICT, WITHOUT ROWID;
CREATE INDEX rollup_by_age ON rollup (step, at)
`;

/** Both ends of a table or index in the order of these columns. */
function ends(table: string, index: string, columns: readonly string[]): readonly string[] {
  const directions = ["ASC", "DESC"].map((direction) => columns.map((column) => `${column} ${direction}`).join(", "));
  return directions.map((order) => `SELECT ${columns.join(", ")} FROM ${table} ${index} ORDER BY ${order} LIMIT 1`);
}

/** The file of the history of calls. */
export const historySchema: SqliteSchema = {
  what: "history",
  migrations: [schema1],
  isRefillable: true,
  probes: [
    ...["ASC", "DESC"].map((direction) => `SELECT * FROM call ORDER BY seq ${direction} LIMIT 1`),
    ...ends("call", "INDEXED BY call_by_id", ["id"]),
    ...ends("call", "INDEXED BY call_by_time", ["accepted", "id"]),
    ...ends("call", "INDEXED BY call_by_function", ["fn", "accepted", "id"]),
    ...ends("rollup", "", ["step", "fn", "at"]),
    ...ends("rollup", "INDEXED BY rollup_by_age", ["step", "at"]),
    ...ends("minute_count", "", ["minute"]),
    "SELECT * FROM function",
    "SELECT * FROM word",
    "SELECT * FROM state_count",
    "SELECT * FROM progress",
  ],
};
