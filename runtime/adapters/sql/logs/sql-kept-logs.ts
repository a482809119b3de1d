import type { FunctionRef } from "../../../core/functions/function-ref.ts";
import { formatLogMoment } from "../../../core/history/logs/log-moment.ts";
import { parseTaggedLine } from "../../../core/replicas/tagged-line.ts";
import type { KeptLine, KeptLinePage, KeptLineQuery, KeptLogs, LinePlace } from "../../../core/ports/kept-logs.ts";
import type { SqlDialect, SqlReader, SqlRecord, SqlSnapshot } from "../sql-dialect.ts";
import { joinSql, sql, type SqlText } from "../sql-text.ts";
import { streamOfCode } from "./stream-codes.ts";

/** What a page holds at most, beside its limit of lines: bytes of text, and lines that are looked at. */
const pageMost = { bytes: 1_048_576, looked: 20_000 };
/** Lines of one statement. */
const chunk = 250;
const mostReplicas = 200;
/** Lines that one statement searches for a text. */
const partSize = 5_000;
const first: LinePlace = [Number.MIN_SAFE_INTEGER, 0, 0];
const last: LinePlace = [Number.MAX_SAFE_INTEGER, 0, 0];

/** Reads the lines in a database of schema `logs`. */
export class SqlKeptLogs implements KeptLogs {
  readonly #reader: SqlReader;

  constructor(reader: SqlReader) {
    this.#reader = reader;
  }

  lines(query: KeptLineQuery): Promise<KeptLinePage> {
    return this.#reader.read(async (snapshot) => {
      const scope = await scopeOf(snapshot, query);
      return scope === undefined ? { lines: [] } : await readPage(snapshot, scope, query);
    });
  }

  lineReplicas(ref: FunctionRef): Promise<readonly string[]> {
    return this.#reader.read(async (snapshot) => {
      const fn = await functionId(snapshot, ref);
      if (fn === undefined) return [];
      const rows = await snapshot.all(
        sql`SELECT name FROM ${snapshot.dialect.lineTables.replica} ${snapshot.dialect.usingIndex(sql`replica_by_function`)}
            WHERE fn = ${fn} ORDER BY at DESC LIMIT ${mostReplicas}`,
      );
      return rows.map(({ name }) => String(name));
    });
  }
}

async function functionId(snapshot: SqlSnapshot, { namespace, name }: FunctionRef): Promise<number | undefined> {
  const table = snapshot.dialect.lineTables.function;
  const [found] = await snapshot.all(sql`SELECT id FROM ${table} WHERE namespace = ${namespace} AND name = ${name}`);
  return found === undefined ? undefined : Number(found["id"]);
}

/** The index to read and the condition on its first column; undefined if there is nothing. */
interface LineScope {
  readonly dialect: SqlDialect;
  readonly using: SqlText;
  readonly condition: SqlText;
}

async function scopeOf(snapshot: SqlSnapshot, query: KeptLineQuery): Promise<LineScope | undefined> {
  const fn = await functionId(snapshot, query);
  if (fn === undefined) return undefined;
  const { dialect } = snapshot;
  if (query.instance === undefined)
    return { dialect, using: dialect.usingIndex(sql`line_by_function`), condition: sql`l.fn = ${fn}` };
  const [found] = await snapshot.all(
    sql`SELECT id FROM ${dialect.lineTables.replica} WHERE fn = ${fn} AND name = ${query.instance}`,
  );
  if (found === undefined) return undefined;
  return {
    dialect,
    using: dialect.usingIndex(sql`line_by_replica`),
    condition: sql`l.replica = ${Number(found["id"])}`,
  };
}

async function readPage(snapshot: SqlSnapshot, scope: LineScope, query: KeptLineQuery): Promise<KeptLinePage> {
  const { containing, limit, newest = false } = query;
  const lines: KeptLine[] = [];
  const page = (next?: LinePlace): KeptLinePage =>
    newest ? { lines: lines.reverse() } : { lines, ...(next === undefined ? {} : { next }) };
  let from = newest ? last : (query.after ?? first);
  let bytes = 0;
  for (let looked = 0; looked < pageMost.looked;) {
    const part = containing === undefined ? undefined : await partEnd(snapshot, scope, query, from);
    const rows = await snapshot.all(linesStatement(scope, query, from, part));
    for (const row of rows) {
      const line = keptLine(query, row);
      from = line.place;
      // The pattern leaves out most of them; whether it minds case is up to the database.
      if (containing !== undefined && !String(row["text"]).includes(containing)) continue;
      lines.push(line);
      bytes += Buffer.byteLength(line.text);
      if (lines.length >= limit || bytes >= pageMost.bytes) return page(from);
    }
    looked += Math.max(rows.length, part === undefined ? 0 : partSize);
    if (rows.length === chunk) continue;
    if (part === undefined) return page();
    from = part;
  }
  return page(from);
}

/** Where the next lines end that are searched for a text; undefined: at the end of all. */
async function partEnd(
  snapshot: SqlSnapshot,
  scope: LineScope,
  query: KeptLineQuery,
  from: LinePlace,
): Promise<LinePlace | undefined> {
  const [end] = await snapshot.all(
    sql`SELECT l.at, l.nanos, l.seq FROM ${linesIn(scope, query, from)} LIMIT 1 OFFSET ${partSize - 1}`,
  );
  return end === undefined ? undefined : placeIn(end);
}

function linesStatement(scope: LineScope, query: KeptLineQuery, from: LinePlace, part: LinePlace | undefined): SqlText {
  const [at, nanos, seq] = part ?? last;
  const { dialect } = scope;
  const { containing, newest = false } = query;
  const isWithin = newest
    ? sql`(l.at, l.nanos, l.seq) >= (${at}, ${nanos}, ${seq})`
    : sql`(l.at, l.nanos, l.seq) <= (${at}, ${nanos}, ${seq})`;
  const conditions = [
    ...(part === undefined ? [] : [isWithin]),
    ...(containing === undefined ? [] : [dialect.contains(sql`l.text`, containing)]),
  ];
  return sql`SELECT l.seq, l.at, l.nanos, l.stream, l.text,
      (SELECT r.name FROM ${dialect.lineTables.replica} AS r WHERE r.id = l.replica) AS instance
    FROM ${linesIn(scope, query, from, conditions)} LIMIT ${chunk}`;
}

/** The lines of a query after a place, in their order. */
function linesIn(
  { dialect, using, condition }: LineScope,
  { since, until, newest = false }: KeptLineQuery,
  [at, nanos, seq]: LinePlace,
  conditions: readonly SqlText[] = [],
): SqlText {
  const all = [
    condition,
    newest
      ? sql`(l.at, l.nanos, l.seq) < (${at}, ${nanos}, ${seq})`
      : sql`(l.at, l.nanos, l.seq) > (${at}, ${nanos}, ${seq})`,
    sql`l.at >= ${Math.ceil(since ?? 0)}`,
    sql`l.at < ${Math.ceil(until ?? Number.MAX_SAFE_INTEGER)}`,
    ...conditions,
  ];
  const order = newest ? sql`l.at DESC, l.nanos DESC, l.seq DESC` : sql`l.at, l.nanos, l.seq`;
  return sql`${dialect.lineTables.line} AS l ${using} WHERE ${joinSql(all, " AND ")} ORDER BY ${order}`;
}

function placeIn(row: SqlRecord): LinePlace {
  return [Number(row["at"]), Number(row["nanos"]), Number(row["seq"])];
}

function keptLine({ namespace, name }: FunctionRef, row: SqlRecord): KeptLine {
  const place = placeIn(row);
  const [at, nanos] = place;
  const stream = streamOfCode(row["stream"]);
  const { text, ...tag } = parseTaggedLine(String(row["text"]));
  return {
    name,
    namespace,
    instance: String(row["instance"]),
    timestamp: formatLogMoment({ at, nanos }),
    text: `${text}\n`,
    ...tag,
    ...(stream === undefined ? {} : { stream }),
    place,
  };
}
