import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { SqlCallHistory } from "../../runtime/adapters/sql/calls/sql-call-history.ts";
import { SqlKeptLogs } from "../../runtime/adapters/sql/logs/sql-kept-logs.ts";
import { PostgresReader } from "../../runtime/adapters/postgres/database/postgres-reader.ts";
import { PostgresKeptLogsWriter } from "../../runtime/adapters/postgres/logs/postgres-kept-logs-writer.ts";
import type { SqlReader, SqlSnapshot } from "../../runtime/adapters/sql/sql-dialect.ts";
import { sql, type SqlText } from "../../runtime/adapters/sql/sql-text.ts";
import type { CallFilter } from "../../runtime/core/ports/call-history.ts";
import { historyChange, historyId, historyStart } from "../support/history-calls.ts";
import { openPostgresHistory, type PostgresHistory } from "../support/postgres-history.ts";
import { openPostgresServer, type PostgresServer } from "../support/postgres-server.ts";

/** A step of a plan, as EXPLAIN has it in JSON. */
interface PlanStep {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly "Rows Removed by Index Recheck"?: number;
  readonly Plans?: readonly PlanStep[];
}

const calls = 30_000;
const maxEntries = 2_000;
/** More rows than this are never sorted. */
const page = 500;
const limit = 5;

let server: PostgresServer;
let history: PostgresHistory;
beforeAll(async () => {
  server = await openPostgresServer({ settings: { autovacuum: "off" } });
  history = await openPostgresHistory(server);
  for (let from = 0; from < calls; from += 1_000)
    await history.writer.apply({
      changes: Array.from({ length: 1_000 }, (_, index) => changeOf(from + index)),
      rollups: Array.from({ length: 40 }, (_, fn) => ({
        namespace: "functions",
        name: `f${fn}`,
        source: "gateway",
        at: historyStart + 10 * from,
        calls: [0, fn, 0, 0, 0],
      })),
    });
});
afterAll(async () => {
  await history?.close();
  await server?.close();
});

/** Calls of 40 functions in four days; those of f0 are the most, and f39 is old. */
function changeOf(number: number) {
  const name = number % 2 === 0 ? "f0" : `f${number % 39}`;
  const accepted = historyStart + 10_000 * number;
  return historyChange(number, {
    accepted: `${accepted}000000`,
    function: number < 50 ? "f39" : name,
    ...(number % 30 === 0 ? ({ state: "failed", reason: "exhausted", status: 500 } as const) : {}),
    ...(number % 1_000 === 1 ? { source: "replay", replayOf: historyId(1) } : {}),
  });
}

/** Reads that explain each of their statements, as it is run. */
class ExplainedReader implements SqlReader {
  readonly steps: { readonly text: string; readonly step: PlanStep }[] = [];
  readonly #reader = new PostgresReader(history.database);

  read<T>(body: (snapshot: SqlSnapshot) => Promise<T>): Promise<T> {
    return this.#reader.read((snapshot) =>
      body({
        dialect: snapshot.dialect,
        all: async (statement) => {
          await this.#explain(statement, snapshot);
          return await snapshot.all(statement);
        },
      }),
    );
  }

  async #explain(statement: SqlText, snapshot: SqlSnapshot): Promise<void> {
    const [record] = await snapshot.all(sql`EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${statement}`);
    const plans = (record?.["QUERY PLAN"] ?? []) as readonly { readonly Plan: PlanStep }[];
    expect(plans).toHaveLength(1);
    const text = statement.strings.join("?");
    for (const { Plan: plan } of plans) for (const step of stepsOf(plan)) this.steps.push({ text, step });
  }
}

function stepsOf(plan: PlanStep): readonly PlanStep[] {
  return [plan, ...(plan.Plans ?? []).flatMap(stepsOf)];
}

const isOfCalls = ({ "Relation Name": table = "" }: PlanStep): boolean => /^(?:call|log_line)(?:$|_day)/.test(table);

/** Steps that read a table of calls from end to end, read more than they may of its index, or sort more than a page. */
function unbounded(steps: ExplainedReader["steps"], most: number) {
  return steps.filter(({ step }) => {
    const rows = step["Actual Rows"] * step["Actual Loops"];
    const read = rows + (step["Rows Removed by Filter"] ?? 0) + (step["Rows Removed by Index Recheck"] ?? 0);
    const type = step["Node Type"];
    return (isOfCalls(step) && (!type.startsWith("Index") || read > most)) || (type.includes("Sort") && rows > page);
  });
}

const ref = { namespace: "functions", name: "f3" };
const rare = { namespace: "functions", name: "f39" };
const names = Array.from({ length: 39 }, (_, index) => `functions/f${index}`);
const timed = { since: historyStart + 1_000_500, until: historyStart + 200_000_500 };
const filters: readonly CallFilter[] = [
  {},
  timed,
  { function: ref },
  { function: rare },
  { function: ref, ...timed },
  { function: ref, statuses: [[500, 599]] },
  { function: rare, statuses: [[500, 599]], reasons: ["none"] },
  { namespace: "functions" },
  { permitted: ["functions/f1", "functions/f39"], sources: ["replay"] },
  { permitted: names },
  { permitted: names, ...timed, queue: "default" },
  { states: ["failed"] },
  { states: ["failed", "cancelled", "queued"], ...timed },
  { states: ["failed"], reasons: ["crash"] },
  { states: ["done", "failed"], kind: "async" },
  { statuses: [[507, 507]] },
  { idPrefix: "00000a" },
  { idPrefix: "00000a", ...timed, states: ["failed"], function: ref },
  { idPrefix: "0000" },
];

describe.each(["without statistics", "with statistics"])("a statement, %s", (kind) => {
  beforeAll(async () => {
    if (kind === "with statistics") await history.query("ANALYZE");
  });

  test.each(filters)("of a list by %j walks an index, and sorts no more than a page", async (filter) => {
    const reader = new ExplainedReader();
    const reads = new SqlCallHistory(reader, { maxEntries });
    const { next, rows } = await reads.list({ filter, limit });
    const last = next ?? rows.at(-1);
    if (last !== undefined) await reads.list({ filter, limit, after: last });
    expect(reader.steps.filter(({ step }) => isOfCalls(step)).length).toBeGreaterThan(0);
    // The prefix "0000" is that of all calls: it looks at 2 000 of them before it is treated as any other filter.
    expect(unbounded(reader.steps, maxEntries + 2)).toEqual([]);
  });

  test("of any other read does, too", async () => {
    const reader = new ExplainedReader();
    const reads = new SqlCallHistory(reader);
    expect((await reads.get(historyId(1)))?.row.name).toBe("f39");
    expect((await reads.replaysOf(historyId(1))).length).toBe(calls / 1_000);
    expect((await reads.functions()).length).toBe(40);
    await reads.gaps();
    const functions = Array.from({ length: 40 }, (_, index) => ({ namespace: "functions", name: `f${index}` }));
    const query = { functions, step: "10s", since: historyStart, until: historyStart + 20_000_000 } as const;
    await reads.rollups(query);
    await reads.rollups({ ...query, summed: true });
    await reads.rollups({ ...query, top: 3 });
    expect(unbounded(reader.steps, 101)).toEqual([]);
    expect(reader.steps.filter(({ step }) => step["Relation Name"] === "rollup")).not.toEqual([]);
    const scans = reader.steps.filter(
      ({ step }) => step["Relation Name"] === "rollup" && !step["Node Type"].startsWith("Index"),
    );
    expect(scans).toEqual([]);
  });
});

test("a statement of kept lines walks an index", async () => {
  const writer = await PostgresKeptLogsWriter.open(history.database);
  const lineAt = (number: number) => ({
    namespace: "shop",
    name: number % 10 === 0 ? "pay" : "refund",
    instance: `replica-${number % 7}`,
    timestamp: new Date(historyStart + 100 * number).toISOString(),
    text: `line ${number}\n`,
    number: 0,
  });
  for (let from = 0; from < 20_000; from += 1_000)
    await writer.append(Array.from({ length: 1_000 }, (_, index) => lineAt(from + index)));
  const reader = new ExplainedReader();
  const logs = new SqlKeptLogs(reader);
  const pay = { namespace: "shop", name: "pay", limit: 10 };
  const range = { since: historyStart, until: historyStart + 1_000_000, containing: "9" };
  for (const query of [{}, { instance: "replica-0" }, range, { newest: true }, { ...range, newest: true }])
    expect((await logs.lines({ ...pay, ...query })).lines).toHaveLength(10);
  await logs.lines({ ...pay, after: [historyStart + 5_000, 0, 0] });
  expect(await logs.lineReplicas(pay)).toHaveLength(7);
  expect(unbounded(reader.steps, 5_000)).toEqual([]);
});

test("a step that scans, reads too much or sorts would be noticed", async () => {
  for (const statement of [
    sql`SELECT id FROM call WHERE retries = 1`,
    sql`SELECT count(*) FROM call WHERE id > ${new Uint8Array(0)}`,
    sql`SELECT id FROM call ORDER BY duration`,
  ]) {
    const reader = new ExplainedReader();
    await reader.read((snapshot) => snapshot.all(statement));
    expect(unbounded(reader.steps, maxEntries).length).toBeGreaterThan(0);
  }
});
