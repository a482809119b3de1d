import type { DatabaseSync, StatementSync } from "node:sqlite";

import { callIdBytes } from "../../sql/calls/call-id-bytes.ts";

/** Milliseconds for which it is known that a call was removed: longer than its dead letter and its record may live. */
const removedKept = 30 * 86_400_000;
/** Milliseconds for which it is known that a call was withdrawn: longer than changes come again. */
const withdrawnKept = 3_600_000;

/** A row, as it is in its file. */
export interface StoredTombstone {
  readonly id: Uint8Array;
  readonly revision: number | null;
  readonly written: number;
}

/** Calls whose changes are ignored: all of them, or those up to the revision with which the call was withdrawn. */
export class TombstoneTable {
  readonly #find: StatementSync;
  readonly #any: StatementSync;
  readonly #put: StatementSync;
  readonly #trimRemoved: StatementSync;
  readonly #trimWithdrawn: StatementSync;

  constructor(database: DatabaseSync) {
    this.#find = database.prepare("SELECT revision FROM tombstone WHERE id = ?");
    this.#any = database.prepare("SELECT 1 FROM tombstone WHERE id >= x'' LIMIT 1");
    this.#put = database.prepare(
      `INSERT INTO tombstone VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET revision = excluded.revision,
       written = excluded.written WHERE revision < coalesce(excluded.revision, 9e99)`,
    );
    this.#trimRemoved = database.prepare("DELETE FROM tombstone WHERE revision IS NULL AND written < ?");
    this.#trimWithdrawn = database.prepare("DELETE FROM tombstone WHERE revision IS NOT NULL AND written < ?");
  }

  /**
   * The revision up to which changes of a call are ignored. To be used in the transaction in which it was asked for:
   * nobody else writes meanwhile, so that of a table without entries none is looked for.
   */
  ignoring(): (id: string) => number | undefined {
    return this.#any.get() === undefined ? () => undefined : (id) => this.#ignoredUpTo(id);
  }

  remove(id: string, now: number): void {
    this.#put.run(callIdBytes(id), null, now);
  }

  withdraw(id: string, revision: number, now: number): void {
    this.#put.run(callIdBytes(id), revision, now);
  }

  /** Stores one of another file; a revision of null stands for all. */
  adopt({ id, revision, written }: StoredTombstone): void {
    this.#put.run(id, revision, written);
  }

  trim(now: number): void {
    this.#trimRemoved.run(now - removedKept);
    this.#trimWithdrawn.run(now - withdrawnKept);
  }

  #ignoredUpTo(id: string): number | undefined {
    const found = this.#find.get(callIdBytes(id));
    if (found === undefined) return undefined;
    return found["revision"] === null ? Number.POSITIVE_INFINITY : Number(found["revision"]);
  }
}
