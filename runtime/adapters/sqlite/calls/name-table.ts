import type { DatabaseSync, StatementSync } from "node:sqlite";

import type { FunctionRef } from "../../../core/functions/function-ref.ts";

/** Ids of functions and words in a file, given when they are first used. Cached until `forget`. */
export class NameTable {
  readonly #functions = new Map<string, number>();
  readonly #words = new Map<string, number>();
  readonly #findFunction: StatementSync;
  readonly #addFunction: StatementSync;
  readonly #findWord: StatementSync;
  readonly #addWord: StatementSync;

  constructor(database: DatabaseSync) {
    this.#findFunction = database.prepare("SELECT id FROM function WHERE namespace = ? AND name = ?");
    this.#addFunction = database.prepare("INSERT INTO function (namespace, name) VALUES (?, ?)");
    this.#findWord = database.prepare("SELECT id FROM word WHERE text = ?");
    this.#addWord = database.prepare("INSERT INTO word (text) VALUES (?)");
  }

  functionId({ namespace, name }: FunctionRef): number {
    const key = `${namespace}/${name}`;
    return this.#cached(this.#functions, key, this.#findFunction, this.#addFunction, [namespace, name]);
  }

  wordId(text: string): number {
    return this.#cached(this.#words, text, this.#findWord, this.#addWord, [text]);
  }

  /** For after a transaction that was undone, and after names were removed. */
  forget(): void {
    this.#functions.clear();
    this.#words.clear();
  }

  #cached(
    cache: Map<string, number>,
    key: string,
    find: StatementSync,
    add: StatementSync,
    names: readonly string[],
  ): number {
    const known = cache.get(key) ?? find.get(...names)?.["id"];
    const id = Number(known ?? add.run(...names).lastInsertRowid);
    cache.set(key, id);
    return id;
  }
}
