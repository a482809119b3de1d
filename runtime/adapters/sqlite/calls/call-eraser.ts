import type { DatabaseSync, StatementSync } from "node:sqlite";

import type { FunctionRef } from "../../../core/functions/function-ref.ts";
import { stateCodes } from "../../sql/calls/call-codes.ts";
import type { CallTable } from "./call-table.ts";
import type { TombstoneTable } from "./tombstone-table.ts";

/** Calls that are looked at in one transaction. */
const atOnce = 1_000;
const firstEnded = stateCodes.code("done");

/** Where the calls of a function go on. */
export interface ErasePlace {
  readonly accepted: number;
  readonly id: Uint8Array;
}

export interface ErasedPart {
  readonly calls: number;
  readonly open: number;
  /** Undefined when there are no more. */
  readonly next: ErasePlace | undefined;
}

/** Removes the ended calls of a function, so that nothing brings them back. */
export class CallEraser {
  readonly #calls: CallTable;
  readonly #tombstones: TombstoneTable;
  readonly #function: StatementSync;
  readonly #rows: StatementSync;

  constructor(database: DatabaseSync, calls: CallTable, tombstones: TombstoneTable) {
    this.#calls = calls;
    this.#tombstones = tombstones;
    this.#function = database.prepare("SELECT id FROM function WHERE namespace = ? AND name = ?");
    this.#rows = database.prepare(
      `SELECT seq, id, fn, state, accepted FROM call INDEXED BY call_by_function
       WHERE fn = ? AND (accepted, id) > (?, ?) ORDER BY accepted, id LIMIT ?`,
    );
  }

  /** Removes some, after a place. To be used in a transaction. */
  eraseSome({ namespace, name }: FunctionRef, after: ErasePlace | undefined, now: number): ErasedPart {
    const fn = this.#function.get(namespace, name)?.["id"];
    if (fn === undefined) return { calls: 0, open: 0, next: undefined };
    const { accepted, id } = after ?? { accepted: Number.MIN_SAFE_INTEGER, id: new Uint8Array(0) };
    const rows = this.#rows.all(Number(fn), accepted, id, atOnce).map((row) => ({
      seq: Number(row["seq"]),
      id: row["id"] as Uint8Array,
      fn: Number(row["fn"]),
      state: Number(row["state"]),
      accepted: Number(row["accepted"]),
    }));
    const ended = rows.filter(({ state }) => state >= firstEnded);
    this.#calls.removeRows(ended);
    for (const row of ended) this.#tombstones.adopt({ id: row.id, revision: null, written: now });
    return {
      calls: ended.length,
      open: rows.length - ended.length,
      next: rows.length < atOnce ? undefined : rows.at(-1),
    };
  }
}
