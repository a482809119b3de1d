import type { CallFilter } from "../../../core/ports/call-history.ts";
import type { SqlRecord, SqlSnapshot } from "../sql-dialect.ts";
import { joinSql, sql } from "../sql-text.ts";
import { stateCodes } from "./call-codes.ts";

/** A function, and how many calls are kept of it. */
export interface KeptFunction {
  readonly id: number;
  readonly calls: number;
}

/** A stored place between two calls. */
export interface StoredPlace {
  readonly accepted: number;
  readonly id: Uint8Array;
}

/** Calls from `lower`, inclusive, to `upper`, exclusive. */
export interface PlaceBounds {
  readonly lower: StoredPlace;
  readonly upper: StoredPlace;
}

/** What a filter means in this database, and how many calls there are. */
export interface FilterScope {
  readonly filter: CallFilter;
  readonly bounds: PlaceBounds;
  /** The functions asked for that have calls; undefined = every call is of one of them. */
  readonly functions: readonly KeptFunction[] | undefined;
  readonly queue: number | undefined;
  /** Calls by code of their state. */
  readonly states: ReadonlyMap<number, number>;
  /** All calls. */
  readonly calls: number;
}

/** Looks up the names of a filter; undefined if no call can match. */
export async function resolveScope(snapshot: SqlSnapshot, filter: CallFilter): Promise<FilterScope | undefined> {
  const { states: asked, statuses, reasons, sources } = filter;
  if ([asked, statuses, reasons, sources].some((list) => list?.length === 0)) return undefined;
  const counts = await snapshot.all(sql`SELECT state, calls FROM state_count WHERE calls > 0`);
  const states = new Map(counts.map((record) => [Number(record["state"]), Number(record["calls"])]));
  const calls = [...states.values()].reduce((sum, more) => sum + more, 0);
  const functions = await functionsOf(snapshot, filter, calls);
  const queue = filter.queue === undefined ? undefined : await queueOf(snapshot, filter.queue);
  // Calls are accepted in whole milliseconds.
  const bounds = timeBounds(Math.ceil(filter.since ?? 0), Math.ceil(filter.until ?? Number.MAX_SAFE_INTEGER));
  if (calls === 0 || functions?.length === 0 || queue === "unknown") return undefined;
  if (bounds.lower.accepted >= bounds.upper.accepted) return undefined;
  return { filter, bounds, functions, queue, states, calls };
}

/** The part of the bounds that comes after a place, in the order of lists. */
export function boundsAfter(bounds: PlaceBounds, after: StoredPlace | undefined): PlaceBounds {
  return after === undefined || after.accepted >= bounds.upper.accepted ? bounds : { ...bounds, upper: after };
}

/** All calls that were accepted in this time. */
export function timeBounds(since: number, until: number): PlaceBounds {
  // No id sorts first.
  const id = new Uint8Array(0);
  return { lower: { accepted: since, id }, upper: { accepted: until, id } };
}

async function functionsOf(
  snapshot: SqlSnapshot,
  { function: ref, namespace, permitted }: CallFilter,
  calls: number,
): Promise<readonly KeptFunction[] | undefined> {
  if (ref === undefined && namespace === undefined && permitted === undefined) return undefined;
  if (ref !== undefined && namespace !== undefined && ref.namespace !== namespace) return [];
  const conditions = [sql`calls > 0`];
  const within = ref?.namespace ?? namespace;
  if (within !== undefined) conditions.push(sql`namespace = ${within}`);
  if (ref !== undefined) conditions.push(sql`name = ${ref.name}`);
  const records = await snapshot.all(
    sql`SELECT id, namespace, name, calls FROM function WHERE ${joinSql(conditions, " AND ")}`,
  );
  const names = permitted === undefined ? undefined : new Set(permitted);
  const found = records
    .filter((record) => names?.has(`${String(record["namespace"])}/${String(record["name"])}`) ?? true)
    .map(keptFunction);
  const covered = found.reduce((sum, one) => sum + one.calls, 0);
  return covered === calls ? undefined : found;
}

function keptFunction(record: SqlRecord): KeptFunction {
  return { id: Number(record["id"]), calls: Number(record["calls"]) };
}

async function queueOf(snapshot: SqlSnapshot, name: string): Promise<number | "unknown"> {
  const [record] = await snapshot.all(sql`SELECT id FROM word WHERE text = ${name}`);
  return record === undefined ? "unknown" : Number(record["id"]);
}

/** Codes of the states asked for that have calls, with their counts; undefined = all. */
export function statesOf({ filter, states }: FilterScope): ReadonlyMap<number, number> | undefined {
  if (filter.states === undefined) return undefined;
  const asked = new Set(filter.states.map((state) => stateCodes.code(state)));
  return new Map([...states].filter(([code]) => asked.has(code)));
}
