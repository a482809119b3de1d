import type { ConnectionOptions } from "node:tls";

import { DatabaseError, Pool, type PoolClient, type QueryResult } from "pg";

import type { SqlRecord } from "../../sql/sql-dialect.ts";
import type { PostgresAddress } from "../../../api/database/postgres-address.ts";
import { ConnectionFailure, endsConnection, StatementTimeout } from "./postgres-failure.ts";

/** A value of a statement: one, or an array for `unnest` and `ANY`. */
export type PostgresValue = PostgresScalar | readonly PostgresScalar[];
export type PostgresScalar = null | number | string | Uint8Array;

/** A transaction that is open. */
export interface PostgresTransaction {
  /** Runs one statement; resolves with its rows. */
  all(text: string, values?: readonly PostgresValue[]): Promise<readonly SqlRecord[]>;
}

export interface PostgresPoolOptions {
  readonly address: PostgresAddress;
  readonly tls: ConnectionOptions | false;
  /** Connections at most. */
  readonly connections: number;
  /** Milliseconds to wait for a connection. */
  readonly patience: number;
}

/** Milliseconds by which a statement may outlast the server's own limit before its connection is cut. */
const grace = 1_000;
const idleTimeout = 30_000;
const keepAliveAfter = 10_000;

/** Connections to a database, opened as they are needed: one that broke is replaced by the next transaction. */
export class PostgresPool {
  readonly #pool: Pool;

  constructor({ address, tls, connections, patience }: PostgresPoolOptions) {
    const { host, port, user, database, password, tls: wanted } = address;
    this.#pool = new Pool({
      host,
      port,
      user,
      database,
      password,
      ssl: tls,
      enableChannelBinding: wanted?.channelBinding ?? false,
      application_name: "weir-history",
      max: connections,
      connectionTimeoutMillis: patience,
      idleTimeoutMillis: idleTimeout,
      keepAlive: true,
      keepAliveInitialDelayMillis: keepAliveAfter,
    });
    // A connection that breaks while it is idle leaves the pool; one in use rejects its statement.
    this.#pool.on("error", () => {});
    this.#pool.on("connect", (client) => client.on("error", () => {}));
  }

  /** Connections that are open. */
  get connections(): number {
    return this.#pool.totalCount;
  }

  /**
   * Runs `body` between the statements `begin` and COMMIT. `limit` in milliseconds is that of the server for one
   * statement: one that outlasts it, as the server hangs or is cut off, loses its connection. Rejects as `pg` does.
   */
  async transaction<T>(
    begin: string,
    limit: number,
    body: (transaction: PostgresTransaction) => Promise<T>,
  ): Promise<T> {
    const client = await this.#connect();
    try {
      await run(client, limit, begin);
      const result = await body({ all: (text, values) => run(client, limit, text, values) });
      await run(client, limit, "COMMIT");
      client.release();
      return result;
    } catch (err) {
      await undo(client, limit, err);
      throw err;
    }
  }

  /** Resolves when all connections are closed; those in use close with their transaction. */
  async close(): Promise<void> {
    await this.#pool.end();
  }

  async #connect(): Promise<PoolClient> {
    try {
      return await this.#pool.connect();
    } catch (err) {
      throw new ConnectionFailure("no connection", { cause: err });
    }
  }
}

async function undo(client: PoolClient, limit: number, err: unknown): Promise<void> {
  if (endsConnection(err)) {
    client.release(true);
    return;
  }
  await run(client, limit, "ROLLBACK").then(
    () => client.release(),
    () => client.release(true),
  );
}

async function run(
  client: PoolClient,
  limit: number,
  text: string,
  values: readonly PostgresValue[] = [],
): Promise<readonly SqlRecord[]> {
  let isOver = false;
  const timer = setTimeout(() => {
    isOver = true;
    client.connection.stream.destroy();
  }, limit + grace);
  try {
    // Of several statements without values there are several results, of which nothing is asked.
    const results = (await client.query<SqlRecord>(text, values.map(storable))) as ManyResults;
    return Array.isArray(results) ? [] : results.rows;
  } catch (err) {
    if (isOver) throw new StatementTimeout(`no reply after ${limit + grace} ms`, { cause: err });
    if (err instanceof DatabaseError) throw err;
    throw new ConnectionFailure("the connection is gone", { cause: err });
  } finally {
    clearTimeout(timer);
  }
}

type ManyResults = QueryResult<SqlRecord> | QueryResult<SqlRecord>[];

/** PostgreSQL stores no NUL in texts; none of ours has one that would be missed. */
function storable(value: PostgresValue): PostgresValue {
  if (typeof value === "string") return value.includes("\0") ? value.replaceAll("\0", "\u{fffd}") : value;
  if (!Array.isArray(value)) return value;
  return value.some((one) => typeof one === "string" && one.includes("\0"))
    ? value.map((one: PostgresScalar) => (typeof one === "string" ? one.replaceAll("\0", "\u{fffd}") : one))
    : value;
}
