import { callIdText } from "../../runtime/adapters/sql/calls/call-id-bytes.ts";

/** What the tables of a history hold, whatever the order in which it was written. */
const tables = {
  calls: `SELECT f.namespace, f.name, w.text AS queue, c.id, c.day, c.revision, c.accepted, c.kind, c.state, c.status,
    c.reason, c.source, c.ended, c.wait, c.duration, c.cold_start, c.retries, c.replay_of, c.details
    FROM call AS c JOIN function AS f ON f.id = c.fn JOIN word AS w ON w.id = c.queue ORDER BY c.id, c.day`,
  functions: "SELECT namespace, name, calls FROM function ORDER BY namespace, name",
  states: "SELECT state, calls FROM state_count WHERE calls <> 0 ORDER BY state",
  minutes: "SELECT minute, calls FROM minute_count WHERE calls <> 0 ORDER BY minute",
  days: "SELECT day, calls FROM call_day ORDER BY day",
  tombstones: "SELECT id, revision FROM tombstone ORDER BY id",
  gaps: "SELECT since, until FROM gap ORDER BY since",
  rollups: `SELECT r.step, f.namespace, f.name, r.at, w.text AS source, r.calls, r.counts FROM rollup AS r
    LEFT JOIN function AS f ON f.id = r.fn JOIN word AS w ON w.id = r.source
    ORDER BY r.step, f.namespace, f.name, r.at, w.text`,
};

type Row = Readonly<Record<string, unknown>>;

/** The content of all tables, to be compared with that of another history. */
export async function postgresTables(
  query: (text: string) => Promise<readonly Row[]>,
): Promise<Readonly<Record<keyof typeof tables, readonly Row[]>>> {
  const found: Partial<Record<string, readonly Row[]>> = {};
  for (const [name, text] of Object.entries(tables)) found[name] = (await query(text)).map(comparable);
  return found as Readonly<Record<keyof typeof tables, readonly Row[]>>;
}

/** What a history counts of itself, each way to count it, which all have to be one number. */
export async function postgresCounts(
  query: (text: string) => Promise<readonly Row[]>,
): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {};
  for (const text of [
    "SELECT count(*) AS n FROM call",
    "SELECT count(DISTINCT id) AS n FROM call",
    "SELECT coalesce(sum(calls), 0) AS n FROM function",
    "SELECT coalesce(sum(calls), 0) AS n FROM minute_count",
    "SELECT coalesce(sum(calls), 0) AS n FROM state_count",
    "SELECT coalesce(sum(calls), 0) AS n FROM call_day",
  ])
    counts[text] = Number((await query(text))[0]?.["n"]);
  return counts;
}

/** The order of members says nothing. */
function comparable(row: Row): Row {
  const { details, counts, id } = row;
  return {
    ...row,
    ...(typeof details === "string" ? { details: JSON.parse(details) } : {}),
    ...(typeof counts === "string" ? { counts: JSON.parse(counts) } : {}),
    ...(Buffer.isBuffer(id) ? { id: callIdText(id) } : {}),
  };
}
