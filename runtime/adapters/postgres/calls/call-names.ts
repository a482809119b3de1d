import { formatRef, type FunctionRef } from "../../../core/functions/function-ref.ts";
import type { PostgresTransaction } from "../database/postgres-pool.ts";

/** Ids of names in a transaction. Nothing is cached beyond it: other processes write, and remove names, too. */
export interface CallNames {
  functionId(ref: FunctionRef): number;
  wordId(text: string): number;
}

/** Looks up the ids of functions and words, and gives ids to those that have none. */
export async function nameIds(
  transaction: PostgresTransaction,
  refs: Iterable<FunctionRef>,
  words: Iterable<string>,
): Promise<CallNames> {
  const functions = await functionIds(transaction, "function", refs);
  const texts = await wordIds(transaction, [...new Set(words)]);
  return {
    functionId: (ref) => known(functions, formatRef(ref)),
    wordId: (text) => known(texts, text),
  };
}

/** Ids by what `formatRef` makes of the functions; those that had none have one then. */
export async function functionIds(
  transaction: PostgresTransaction,
  table: "function" | "log_function",
  refs: Iterable<FunctionRef>,
): Promise<ReadonlyMap<string, number>> {
  const wanted = new Map([...refs].map((ref) => [formatRef(ref), ref]));
  const columns = (some: readonly FunctionRef[]) => [
    some.map(({ namespace }) => namespace),
    some.map(({ name }) => name),
  ];
  const ids = new Map<string, number>();
  const add = (rows: readonly Readonly<Record<string, unknown>>[]): void => {
    for (const { id, namespace, name } of rows)
      ids.set(formatRef({ namespace: String(namespace), name: String(name) }), Number(id));
  };
  if (wanted.size === 0) return ids;
  add(
    await transaction.all(
      `SELECT f.id, f.namespace, f.name FROM unnest($1::text[], $2::text[]) AS w (namespace, name)
       JOIN ${table} AS f ON f.namespace = w.namespace AND f.name = w.name`,
      columns([...wanted.values()]),
    ),
  );
  const missing = [...wanted].filter(([key]) => !ids.has(key)).map(([, ref]) => ref);
  if (missing.length > 0)
    add(
      await transaction.all(
        `INSERT INTO ${table} (namespace, name) SELECT * FROM unnest($1::text[], $2::text[])
         RETURNING id, namespace, name`,
        columns(missing),
      ),
    );
  return ids;
}

async function wordIds(
  transaction: PostgresTransaction,
  words: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (words.length === 0) return new Map();
  const found = await transaction.all("SELECT id, text FROM word WHERE text = ANY($1::text[])", [words]);
  const ids = new Map(found.map(({ id, text }) => [String(text), Number(id)]));
  const missing = words.filter((word) => !ids.has(word));
  if (missing.length === 0) return ids;
  const added = await transaction.all("INSERT INTO word (text) SELECT unnest($1::text[]) RETURNING id, text", [
    missing,
  ]);
  return new Map([...ids, ...added.map(({ id, text }) => [String(text), Number(id)] as const)]);
}

function known(ids: ReadonlyMap<string, number>, name: string): number {
  const id = ids.get(name);
  if (id === undefined) throw new Error(`Cannot store "${name}": its name has no id`);
  return id;
}
