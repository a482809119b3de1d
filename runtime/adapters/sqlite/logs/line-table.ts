import type { DatabaseSync, StatementSync } from "node:sqlite";

import type { FunctionRef } from "../../../core/functions/function-ref.ts";
import { isCovered } from "../../../core/history/logs/line-numbers.ts";
import { parseLogMoment } from "../../../core/history/logs/log-moment.ts";
import type { FollowedLine, LogPosition } from "../../../core/ports/kept-logs.ts";
import { streamCode } from "../../sql/logs/stream-codes.ts";

interface KnownReplica {
  readonly id: number;
  readonly fn: number;
  position: LogPosition | undefined;
  isChanged: boolean;
}

/** A row that is to be deleted. */
export interface StoredLine {
  readonly seq: number;
  readonly fn: number;
  readonly size: number;
}

/** Bytes that a line takes beside its text: its row, and its entries in three indexes. */
const besideText = 90;
/** No line has a time as early as this. */
const neverKept = -1;

/** The lines of a file. To be used in a transaction that ends with `writeChanges`; cached until `forget`. */
export class LineTable {
  readonly #functions = new Map<string, number>();
  readonly #replicas = new Map<string, KnownReplica>();
  readonly #changes = new Map<number, { lines: number; bytes: number }>();
  readonly #findFunction: StatementSync;
  readonly #addFunction: StatementSync;
  readonly #findReplica: StatementSync;
  readonly #addReplica: StatementSync;
  readonly #insert: StatementSync;
  readonly #delete: StatementSync;
  readonly #setPosition: StatementSync;
  readonly #count: StatementSync;

  constructor(database: DatabaseSync) {
    this.#findFunction = database.prepare("SELECT id FROM function WHERE namespace = ? AND name = ?");
    this.#addFunction = database.prepare("INSERT INTO function (namespace, name) VALUES (?, ?)");
    this.#findReplica = database.prepare("SELECT id, at, nanos, number FROM replica WHERE fn = ? AND name = ?");
    this.#addReplica = database.prepare(
      `INSERT INTO replica (fn, name, at, nanos, number) VALUES (?, ?, ${neverKept}, 0, 0)`,
    );
    this.#insert = database.prepare(
      "INSERT INTO line (fn, replica, at, nanos, stream, size, text) VALUES (?, ?, ?, ?, ?, ?, ?)",
    );
    this.#delete = database.prepare("DELETE FROM line WHERE seq = ?");
    this.#setPosition = database.prepare("UPDATE replica SET at = ?, nanos = ?, number = ? WHERE id = ?");
    this.#count = database.prepare("UPDATE function SET lines = lines + ?, bytes = bytes + ? WHERE id = ?");
  }

  functionId(ref: FunctionRef): number | undefined {
    const key = `${ref.namespace}/${ref.name}`;
    const known = this.#functions.get(key);
    if (known !== undefined) return known;
    const found = this.#findFunction.get(ref.namespace, ref.name)?.["id"];
    if (found === undefined) return undefined;
    this.#functions.set(key, Number(found));
    return Number(found);
  }

  /** Stores a line, unless its replica was kept up to it already. */
  add(line: FollowedLine): void {
    const moment = parseLogMoment(line.timestamp);
    if (moment === undefined) return;
    const replica = this.#replica(line);
    const position = { ...moment, number: line.number };
    if (isCovered(position, replica.position)) return;
    const text = line.text.endsWith("\n") ? line.text.slice(0, -1) : line.text;
    const size = Buffer.byteLength(text) + besideText;
    this.#insert.run(replica.fn, replica.id, moment.at, moment.nanos, streamCode(line.stream), size, text);
    replica.position = position;
    replica.isChanged = true;
    this.#change(replica.fn, 1, size);
  }

  remove(lines: readonly StoredLine[]): void {
    for (const { seq, fn, size } of lines) {
      this.#delete.run(seq);
      this.#change(fn, -1, -size);
    }
  }

  writeChanges(): void {
    for (const replica of this.#replicas.values()) {
      if (!replica.isChanged || replica.position === undefined) continue;
      const { at, nanos, number } = replica.position;
      this.#setPosition.run(at, nanos, number, replica.id);
      replica.isChanged = false;
    }
    for (const [fn, { lines, bytes }] of this.#changes) this.#count.run(lines, bytes, fn);
    this.#changes.clear();
  }

  /** For after a transaction that was undone, and after functions or replicas were removed. */
  forget(): void {
    this.#functions.clear();
    this.#replicas.clear();
    this.#changes.clear();
  }

  #replica({ namespace, name, instance }: FollowedLine): KnownReplica {
    const key = `${namespace}/${name}/${instance}`;
    const known = this.#replicas.get(key);
    if (known !== undefined) return known;
    const fn = this.functionId({ namespace, name }) ?? Number(this.#addFunction.run(namespace, name).lastInsertRowid);
    const found = this.#findReplica.get(fn, instance);
    const id = Number(found?.["id"] ?? this.#addReplica.run(fn, instance).lastInsertRowid);
    const replica = { id, fn, position: found === undefined ? undefined : positionIn(found), isChanged: false };
    this.#replicas.set(key, replica);
    return replica;
  }

  #change(fn: number, lines: number, bytes: number): void {
    const before = this.#changes.get(fn);
    this.#changes.set(fn, { lines: (before?.lines ?? 0) + lines, bytes: (before?.bytes ?? 0) + bytes });
  }
}

/** How far a row of a replica was kept; undefined before its first line. */
export function positionIn(row: Readonly<Record<string, unknown>>): LogPosition | undefined {
  const at = Number(row["at"]);
  if (at === neverKept) return undefined;
  return { at, nanos: Number(row["nanos"]), number: Number(row["number"]) };
}
