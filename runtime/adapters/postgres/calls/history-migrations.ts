import type { PostgresSchema } from "../database/migrate-postgres.ts";

/**
 * Schema 1. Codes are those of SQLite's: the open states are below 3, which is `done`; steps of `rollup` are 0, 1, 2 for
 * 10s, 1m, 1h, and its function 0 is all of them. Calls are in a partition for each UTC day of their acceptance, which
 * `call_day` lists. Its bytes, and those of rollups, are what rows take with their entries in indexes, about: a table does not
 * shrink when its oldest rows go.
 */
const schema1 = `
CREATE TABLE function (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  namespace text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  calls bigint NOT NULL DEFAULT 0,
  UNIQUE (namespace, name)
);
CREATE TABLE word (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  text text COLLATE "C" NOT NULL UNIQUE
);
CREATE TABLE progress (
  one integer PRIMARY KEY CHECK (one = 1),
  position text,
  rollups_since bigint NOT NULL,
  rollup_bytes bigint NOT NULL
);
INSERT INTO progress (one, rollups_since, rollup_bytes) VALUES (1, 0, 0);

CREATE TABLE call (
  revision bigint NOT NULL,
  accepted bigint NOT NULL,
  ended bigint,
  wait double precision,
  duration double precision,
  cold_start double precision,
  day integer NOT NULL,
  fn integer NOT NULL,
  queue integer NOT NULL,
  retries integer NOT NULL,
  size integer NOT NULL,
  kind smallint NOT NULL,
  state smallint NOT NULL,
  status smallint,
  source smallint NOT NULL,
  id bytea NOT NULL,
  replay_of bytea,
  reason text COLLATE "C",
  details text NOT NULL,
  PRIMARY KEY (id, day)
) PARTITION BY LIST (day);
CREATE INDEX call_by_time ON call (accepted, id);
CREATE INDEX call_by_function ON call (fn, accepted, id);
CREATE INDEX call_by_state ON call (state, accepted, id) WHERE state <> 3;
CREATE INDEX call_open ON call (id) WHERE state < 3;
CREATE INDEX call_by_replay ON call (replay_of, accepted, id) WHERE replay_of IS NOT NULL;

CREATE TABLE call_day (day integer PRIMARY KEY, calls bigint NOT NULL, bytes bigint NOT NULL);
CREATE TABLE state_count (state integer PRIMARY KEY, calls bigint NOT NULL);
CREATE TABLE minute_count (minute bigint PRIMARY KEY, calls bigint NOT NULL);

CREATE TABLE tombstone (id bytea PRIMARY KEY, revision bigint, written bigint NOT NULL);
CREATE INDEX tombstone_removed ON tombstone (written) WHERE revision IS NULL;
CREATE INDEX tombstone_withdrawn ON tombstone (written) WHERE revision IS NOT NULL;

CREATE TABLE gap (since bigint PRIMARY KEY, until bigint NOT NULL);

CREATE TABLE rollup (
  at bigint NOT NULL,
  calls bigint NOT NULL,
  fn integer NOT NULL,
  source integer NOT NULL,
  step smallint NOT NULL,
  counts text NOT NULL,
  PRIMARY KEY (step, fn, at, source)
);
CREATE INDEX rollup_by_age ON rollup (step, at)
`;

/** The tables of the history of calls. */
export const historyTables: PostgresSchema = { what: "history", migrations: [schema1] };
