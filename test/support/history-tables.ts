import { DatabaseSync } from "node:sqlite";

/** What the tables of a history's file hold, whatever the order in which it was written. */
const tables = {
  calls: `SELECT f.namespace, f.name, w.text AS queue, c.id, c.revision, c.accepted, c.kind, c.state, c.status, c.reason,
    c.source, c.ended, c.wait, c.duration, c.cold_start, c.retries, c.replay_of, c.details
    FROM call AS c JOIN function AS f ON f.id = c.fn JOIN word AS w ON w.id = c.queue ORDER BY c.id`,
  functions: "SELECT namespace, name, calls FROM function ORDER BY namespace, name",
  states: "SELECT state, calls FROM state_count WHERE calls <> 0 ORDER BY state",
  minutes: "SELECT minute, calls FROM minute_count WHERE calls <> 0 ORDER BY minute",
  tombstones: "SELECT id, revision FROM tombstone ORDER BY id",
  gaps: "SELECT since, until FROM gap ORDER BY since",
  rollups: `SELECT r.step, f.namespace, f.name, r.at, w.text AS source, r.calls, r.counts FROM rollup AS r
    LEFT JOIN function AS f ON f.id = r.fn JOIN word AS w ON w.id = r.source
    ORDER BY r.step, f.namespace, f.name, r.at, w.text`,
};

/** The content of all tables, to be compared with that of another file. */
export function historyTables(file: string): Readonly<Record<string, readonly unknown[]>> {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const entries = Object.entries(tables).map(([name, text]) => {
      const rows = database.prepare(text).all();
      return [name, rows.map((row) => ({ ...row, ...parsed(row, "details"), ...parsed(row, "counts") }))] as const;
    });
    return Object.fromEntries(entries);
  } finally {
    database.close();
  }
}

/** The order of its members says nothing. */
function parsed(row: Readonly<Record<string, unknown>>, column: string): object {
  const text = row[column];
  return typeof text === "string" ? { [column]: JSON.parse(text) } : {};
}
