import { join } from "node:path";

import type { AccessDocument } from "../../../core/access/build-rule-set.ts";
import type { RuleFault } from "../../../core/access/rule-set.ts";
import { readRuleFile, type RuleFile } from "./read-rule-file.ts";

/** The directory as it was listed. */
export interface ListedDirectory {
  /** User id of its owner. */
  readonly owner: bigint;
  /** States of its files by name, see `fileState`. */
  readonly files: ReadonlyMap<string, string>;
}

/** What one update did. */
export interface RuleFilesUpdate {
  readonly hasChanged: boolean;
  /** Some files are to be looked at again soon, before they are read. */
  readonly isSettling: boolean;
}

/** A file that was read, and why it could not be read since then. */
interface KnownFile {
  readonly file: RuleFile;
  readonly failure: RuleFault | undefined;
}

/** A state that a file was found in, and is to be found in again before it is read. */
interface Unsettled {
  readonly state: string;
  readonly since: number;
}

/** Files read at the same time. */
const batchSize = 16;
/** Milliseconds after which a file is read although it still changes. */
const longestSettling = 300;
const absent = "absent";
const neverRead: RuleFile = { state: absent, isCertain: true, digest: "", documents: [], faults: [] };

/**
 * What the files of a directory hold. A file is read when it was found in the same new state at two updates: one that
 * is being written, or is moved aside for a moment, keeps what it held. While it cannot be read it also keeps that,
 * with a fault.
 */
export class RuleFiles {
  readonly #directory: string;
  readonly #known = new Map<string, KnownFile>();
  readonly #unsettled = new Map<string, Unsettled>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  get documents(): AccessDocument[] {
    return this.#inOrder().flatMap(({ file }) => file.documents);
  }

  get faults(): RuleFault[] {
    return this.#inOrder().flatMap(({ file, failure }) => [
      ...file.faults,
      ...(failure === undefined ? [] : [failure]),
    ]);
  }

  /** Reads what has changed; at once instead of when it is settled if `atOnce`. */
  async update({ owner, files }: ListedDirectory, atOnce = false): Promise<RuleFilesUpdate> {
    const due = [...new Set([...files.keys(), ...this.#known.keys(), ...this.#unsettled.keys()])].flatMap((name) => {
      const state = files.get(name) ?? absent;
      return this.#isDue(name, state, atOnce) ? [{ name, state }] : [];
    });
    let hasChanged = false;
    for (let start = 0; start < due.length; start += batchSize) {
      const changes = due.slice(start, start + batchSize).map(({ name, state }) => this.#take(name, state, owner));
      hasChanged = (await Promise.all(changes)).includes(true) || hasChanged;
    }
    return { hasChanged, isSettling: this.#unsettled.size > 0 };
  }

  #isDue(name: string, state: string, atOnce: boolean): boolean {
    const { state: known, isCertain } = this.#known.get(name)?.file ?? neverRead;
    if (known === state) {
      this.#unsettled.delete(name);
      return !isCertain;
    }
    const now = performance.now();
    const before = this.#unsettled.get(name);
    const isSettled = atOnce || before?.state === state || now - (before?.since ?? now) > longestSettling;
    if (isSettled) this.#unsettled.delete(name);
    else this.#unsettled.set(name, { state, since: before?.since ?? now });
    return isSettled;
  }

  /** Resolves with whether what it holds has changed. */
  async #take(name: string, state: string, directoryOwner: bigint): Promise<boolean> {
    if (state === absent) return this.#known.delete(name);
    const before = this.#known.get(name);
    const path = join(this.#directory, name);
    const reading = await readRuleFile({ path, state, directoryOwner, known: before?.file });
    switch (reading.kind) {
      case "gone":
        // The next update finds it absent, or another one.
        return false;
      case "failed": {
        // Not certain, so that each update tries again.
        const file = { ...(before?.file ?? neverRead), state, isCertain: false };
        const failure = { ...reading.fault, sentence: failureSentence(reading.fault, before?.file) };
        this.#known.set(name, { file, failure });
        return before?.failure?.sentence !== failure.sentence;
      }
      case "read": {
        this.#known.set(name, { file: reading.file, failure: undefined });
        return reading.file.digest !== before?.file.digest || before.failure !== undefined;
      }
      default:
        return reading satisfies never;
    }
  }

  #inOrder(): KnownFile[] {
    return [...this.#known].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, known]) => known);
  }
}

function failureSentence({ sentence }: RuleFault, before: RuleFile | undefined): string {
  const held = before !== undefined && before.documents.length > 0;
  return held ? `${sentence}; what it held before stays in force` : `it is left out: ${sentence}`;
}
