import type { FunctionRef } from "../../../core/functions/function-ref.ts";
import type { HistoryCall } from "../../../core/history/history-row.ts";
import type { RollupSeries } from "../../../core/history/rollups/rollup.ts";
import type {
  CallHistory,
  CallListQuery,
  CallPage,
  HistoryGap,
  RollupQuery,
} from "../../../core/ports/call-history.ts";
import type { SqlReader } from "../sql-dialect.ts";
import { sql } from "../sql-text.ts";
import { callRowOf, rowColumns, rowTables } from "./call-columns.ts";
import { callIdBytes, callIdText } from "./call-id-bytes.ts";
import { expandDetails } from "./compact-details.ts";
import { readCallPage, maxPageEntries } from "./read-call-page.ts";
import { readRollups } from "../rollups/read-rollups.ts";

const maxReplays = 100;

/** Reads a history in a database of either dialect; each read sees one state of it. */
export class SqlCallHistory implements CallHistory {
  readonly #reader: SqlReader;
  readonly #maxEntries: number;

  /** `maxEntries`: index entries that a page reads at most. */
  constructor(reader: SqlReader, { maxEntries = maxPageEntries }: { readonly maxEntries?: number } = {}) {
    this.#reader = reader;
    this.#maxEntries = maxEntries;
  }

  async list(query: CallListQuery): Promise<CallPage> {
    return await this.#reader.read((snapshot) => readCallPage(snapshot, query, this.#maxEntries));
  }

  async get(id: string): Promise<HistoryCall | undefined> {
    const [record] = await this.#reader.read((snapshot) =>
      snapshot.all(sql`SELECT ${rowColumns}, c.details FROM call AS c ${rowTables} WHERE c.id = ${callIdBytes(id)}`),
    );
    if (record === undefined) return undefined;
    const row = callRowOf(record);
    return { row, details: expandDetails(String(record["details"]), row) };
  }

  async replaysOf(id: string): Promise<readonly string[]> {
    const records = await this.#reader.read((snapshot) =>
      snapshot.all(
        sql`SELECT c.id FROM call AS c WHERE c.replay_of = ${callIdBytes(id)}
            ORDER BY c.accepted, c.id LIMIT ${maxReplays}`,
      ),
    );
    return records.map((record) => callIdText(record["id"] as Uint8Array));
  }

  async functions(): Promise<readonly FunctionRef[]> {
    const records = await this.#reader.read((snapshot) =>
      snapshot.all(
        sql`SELECT f.namespace, f.name FROM function AS f
            WHERE f.calls > 0 OR EXISTS (SELECT 1 FROM rollup AS r WHERE r.step = 2 AND r.fn = f.id)
            ORDER BY f.namespace, f.name`,
      ),
    );
    return records.map(({ namespace, name }) => ({ namespace: String(namespace), name: String(name) }));
  }

  async gaps(): Promise<readonly HistoryGap[]> {
    const records = await this.#reader.read((snapshot) =>
      snapshot.all(sql`SELECT since, until FROM gap ORDER BY since, until`),
    );
    return records.map(({ since, until }) => ({ from: Number(since), to: Number(until) }));
  }

  async rollups(query: RollupQuery): Promise<readonly RollupSeries[]> {
    return await this.#reader.read((snapshot) => readRollups(snapshot, query));
  }
}
