import { readFile } from "node:fs/promises";
import type { ConnectionOptions } from "node:tls";

import {
  type PostgresAddress,
  type PostgresTls,
  parsePostgresAddress,
  postgresPlace,
} from "../../../api/database/postgres-address.ts";
import { postgresFailure, type PostgresDoing } from "./postgres-failure.ts";
import { PostgresPool, type PostgresTransaction } from "./postgres-pool.ts";

export interface PostgresLimits {
  /** Milliseconds that a statement of a read may take (1 s). */
  readonly read?: number;
  /** Milliseconds that a statement of a write may take (60 s). */
  readonly write?: number;
}

/** Whose writes exclude each other, in all processes: the number of an advisory lock. */
const locks = { migration: 1, calls: 2, lines: 3 } as const;
type LockName = keyof typeof locks;

const defaultLimits = { read: 1_000, write: 60_000 };
const connections = { reads: 8, writes: 4 };
/** Milliseconds to wait for a connection to write; who reads has given up after two times the limit. */
const writePatience = 5_000;
/** "WEIR": the first number of all our advisory locks. */
const lockClass = 0x57_45_49_52;
/** Milliseconds in which a process says nothing within a transaction: one that was stopped must hold no lock. */
const silence = 10_000;

/**
 * Statements are made to walk an index in its order: so many entries are read as are returned, whatever the planner knows
 * of the table by now. Compiling them costs more than they do.
 */
const alongIndexes = ["seqscan", "bitmapscan", "sort", "incremental_sort", "hashjoin", "mergejoin"]
  .map((name) => `SET LOCAL enable_${name} = off; `)
  .join("");
const settings = `SET LOCAL search_path = weir; SET LOCAL jit = off; ${alongIndexes}
  SET LOCAL idle_in_transaction_session_timeout = ${silence};`;

/** A PostgreSQL database as a history process uses it: some connections to write, others to read. */
export class PostgresDatabase {
  /** Where it is, as sentences name it. */
  readonly place: string;
  readonly #limits: Required<PostgresLimits>;
  readonly #reads: PostgresPool;
  readonly #writes: PostgresPool;

  private constructor(address: PostgresAddress, tls: ConnectionOptions | false, limits: PostgresLimits) {
    this.place = postgresPlace(address);
    this.#limits = { ...defaultLimits, ...limits };
    const { read } = this.#limits;
    this.#reads = new PostgresPool({ address, tls, connections: connections.reads, patience: 2 * read });
    this.#writes = new PostgresPool({ address, tls, connections: connections.writes, patience: writePatience });
  }

  /**
   * Takes the address of a database; nothing is connected before the first transaction.
   * @throws Error when the address, or a file that it names, cannot be read
   */
  static async at(uri: string, limits: PostgresLimits = {}): Promise<PostgresDatabase> {
    const address = parsePostgresAddress(uri);
    return new PostgresDatabase(address, address.tls === undefined ? false : await tlsOptions(address.tls), limits);
  }

  /** Connections that are open now. */
  get connections(): number {
    return this.#reads.connections + this.#writes.connections;
  }

  /** Milliseconds that a statement of a read may take. */
  get readLimit(): number {
    return this.#limits.read;
  }

  /**
   * Reads one unchanging state.
   * @throws PlatformError `history_unavailable`
   */
  async read<T>(body: (transaction: PostgresTransaction) => Promise<T>): Promise<T> {
    const { read } = this.#limits;
    const begin = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = ${read}; ${settings}`;
    return this.#run(this.#reads, begin, { what: "read history", limit: read, waiting: "reads" }, body);
  }

  /**
   * Reads for who writes, who may wait longer.
   * @throws PlatformError `history_unavailable`
   */
  async look<T>(what: string, body: (transaction: PostgresTransaction) => Promise<T>): Promise<T> {
    const { write } = this.#limits;
    const begin = `BEGIN READ ONLY; SET LOCAL statement_timeout = ${write}; ${settings}`;
    return this.#run(this.#writes, begin, { what: `read ${what}`, limit: write, waiting: "writes" }, body);
  }

  /**
   * Stores all that `body` writes, or nothing; no other process writes what `lock` guards meanwhile. `isLasting`: what was
   * written survives a crash of the server. Else the last transactions may be lost, as a whole, and are read again.
   * @throws PlatformError `history_unavailable`
   */
  async write<T>(
    { what, lock, isLasting = true }: { readonly what: string; readonly lock: LockName; readonly isLasting?: boolean },
    body: (transaction: PostgresTransaction) => Promise<T>,
  ): Promise<T> {
    const { write } = this.#limits;
    const begin = `BEGIN; SET LOCAL statement_timeout = ${write}; ${settings}
      ${isLasting ? "" : "SET LOCAL synchronous_commit = off;"}
      SELECT pg_advisory_xact_lock(${lockClass}, ${locks[lock]})`;
    return this.#run(this.#writes, begin, { what: `write ${what}`, limit: write, waiting: "writes" }, body);
  }

  /**
   * Changes the schema, alone among all processes.
   * @throws PlatformError `history_unavailable`, which begins with "Cannot open"
   */
  async migrate(what: string, body: (transaction: PostgresTransaction) => Promise<void>): Promise<void> {
    const { write } = this.#limits;
    const begin = `BEGIN; SET LOCAL statement_timeout = ${write}; SET LOCAL search_path = weir;
      SELECT pg_advisory_xact_lock(${lockClass}, ${locks.migration})`;
    await this.#run(this.#writes, begin, { what: `open ${what}`, limit: write, waiting: "writes" }, body);
  }

  /** Resolves when all connections are closed. */
  async close(): Promise<void> {
    await Promise.all([this.#reads.close(), this.#writes.close()]);
  }

  async #run<T>(
    pool: PostgresPool,
    begin: string,
    doing: Omit<PostgresDoing, "place">,
    body: (transaction: PostgresTransaction) => Promise<T>,
  ): Promise<T> {
    try {
      return await pool.transaction(begin, doing.limit, body);
    } catch (err) {
      throw postgresFailure(err, { ...doing, place: this.place });
    }
  }
}

async function tlsOptions({ rootCertificate, certificate, key }: PostgresTls): Promise<ConnectionOptions> {
  const read = async (path: string): Promise<Buffer> =>
    readFile(path).catch((err: NodeJS.ErrnoException) => {
      throw new Error(`Cannot read file "${path}" for the database: ${err.code}`, { cause: err });
    });
  return {
    rejectUnauthorized: true,
    ...(rootCertificate === undefined ? {} : { ca: await read(rootCertificate) }),
    ...(certificate === undefined ? {} : { cert: await read(certificate) }),
    ...(key === undefined ? {} : { key: await read(key) }),
  };
}
