import { formatRef, type FunctionRef } from "../../../core/functions/function-ref.ts";
import type { FollowedLine, LogPosition } from "../../../core/ports/kept-logs.ts";
import { functionIds } from "../calls/call-names.ts";
import type { PostgresTransaction } from "../database/postgres-pool.ts";

/** A replica of a function, and how far its log was kept; undefined before its first line. */
export interface LogReplica {
  readonly id: number;
  readonly fn: number;
  readonly position: LogPosition | undefined;
}

type ReplicaName = Pick<FollowedLine, "namespace" | "name" | "instance">;

/** The replicas of lines, by `replicaKey`; those that are new are stored. */
export async function needReplicas(
  transaction: PostgresTransaction,
  lines: readonly ReplicaName[],
): Promise<ReadonlyMap<string, LogReplica>> {
  const functions = await functionIds(transaction, "log_function", lines);
  const wanted = new Map<string, { readonly fn: number; readonly name: string }>();
  for (const line of lines) {
    const fn = functions.get(formatRef(line));
    if (fn !== undefined) wanted.set(key(fn, line.instance), { fn, name: line.instance });
  }
  const columns = (some: readonly { readonly fn: number; readonly name: string }[]) => [
    some.map(({ fn }) => fn),
    some.map(({ name }) => name),
  ];
  const found = await transaction.all(
    `SELECT r.id, r.fn, r.name, r.at, r.nanos, r.number FROM unnest($1::integer[], $2::text[]) AS w (fn, name)
     JOIN log_replica AS r ON r.fn = w.fn AND r.name = w.name`,
    columns([...wanted.values()]),
  );
  const stored = new Map(found.map((row) => [key(Number(row["fn"]), String(row["name"])), replicaOf(row)]));
  const missing = [...wanted].filter(([name]) => !stored.has(name)).map(([, replica]) => replica);
  if (missing.length > 0) {
    const added = await transaction.all(
      `INSERT INTO log_replica (fn, name) SELECT * FROM unnest($1::integer[], $2::text[])
       RETURNING id, fn, name, at, nanos, number`,
      columns(missing),
    );
    for (const row of added) stored.set(key(Number(row["fn"]), String(row["name"])), replicaOf(row));
  }
  const byLine = lines.flatMap((line) => {
    const replica = stored.get(key(functions.get(formatRef(line)) ?? 0, line.instance));
    return replica === undefined ? [] : [[replicaKey(line), replica] as const];
  });
  return new Map(byLine);
}

export function replicaKey({ namespace, name, instance }: ReplicaName): string {
  return `${namespace}/${name}/${instance}`;
}

/** How far the log of each replica of a function was kept. */
export async function replicaPositions(
  transaction: PostgresTransaction,
  { namespace, name }: FunctionRef,
): Promise<ReadonlyMap<string, LogPosition>> {
  const rows = await transaction.all(
    `SELECT r.name, r.at, r.nanos, r.number FROM log_function AS f JOIN log_replica AS r ON r.fn = f.id
     WHERE f.namespace = $1 AND f.name = $2`,
    [namespace, name],
  );
  return new Map(
    rows.flatMap((row) => {
      const position = positionOf(row);
      return position === undefined ? [] : [[String(row["name"]), position] as const];
    }),
  );
}

export async function writePositions(
  transaction: PostgresTransaction,
  positions: ReadonlyMap<number, LogPosition>,
): Promise<void> {
  const all = [...positions.values()];
  await transaction.all(
    `UPDATE log_replica SET at = p.at, nanos = p.nanos, number = p.number
     FROM unnest($1::integer[], $2::bigint[], $3::integer[], $4::integer[]) AS p (id, at, nanos, number)
     WHERE log_replica.id = p.id`,
    [[...positions.keys()], all.map(({ at }) => at), all.map(({ nanos }) => nanos), all.map((one) => one.number)],
  );
}

function key(fn: number, name: string): string {
  return `${fn}/${name}`;
}

function replicaOf(row: Readonly<Record<string, unknown>>): LogReplica {
  return { id: Number(row["id"]), fn: Number(row["fn"]), position: positionOf(row) };
}

function positionOf(row: Readonly<Record<string, unknown>>): LogPosition | undefined {
  const at = Number(row["at"]);
  return at < 0 ? undefined : { at, nanos: Number(row["nanos"]), number: Number(row["number"]) };
}
