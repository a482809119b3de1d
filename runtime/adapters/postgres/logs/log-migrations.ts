import type { PostgresSchema } from "../database/migrate-postgres.ts";

/**
 * Schema 1. Times are `at` in Unix milliseconds and `nanos` within it; those of a replica are how far it was kept, and -1
 * before its first line. Texts are bytes, as functions may write anything; `stream` is 1 for stdout, 2 for stderr.
 */
const schema1 = `
CREATE TABLE log_function (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  namespace text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  lines bigint NOT NULL DEFAULT 0,
  bytes bigint NOT NULL DEFAULT 0,
  UNIQUE (namespace, name)
);
CREATE INDEX log_function_by_bytes ON log_function (bytes);

CREATE TABLE log_replica (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  fn integer NOT NULL,
  name text COLLATE "C" NOT NULL,
  at bigint NOT NULL DEFAULT -1,
  nanos integer NOT NULL DEFAULT 0,
  number integer NOT NULL DEFAULT 0,
  UNIQUE (fn, name)
);
CREATE INDEX log_replica_by_function ON log_replica (fn, at);
CREATE INDEX log_replica_by_time ON log_replica (at);

CREATE TABLE log_line (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at bigint NOT NULL,
  fn integer NOT NULL,
  replica integer NOT NULL,
  nanos integer NOT NULL,
  size integer NOT NULL,
  stream smallint,
  text bytea NOT NULL
);
CREATE INDEX log_line_by_function ON log_line (fn, at, nanos, seq);
CREATE INDEX log_line_by_replica ON log_line (replica, at, nanos, seq);
CREATE INDEX log_line_by_time ON log_line (at)
`;

/** The tables of kept log lines. */
export const lineTables: PostgresSchema = { what: "kept logs", migrations: [schema1] };
