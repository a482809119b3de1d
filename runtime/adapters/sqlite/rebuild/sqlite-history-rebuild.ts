import { setImmediate as afterOthers } from "node:timers/promises";

import { formerChanges } from "../../../core/history/former-changes.ts";
import type { HistoryCall } from "../../../core/history/history-row.ts";
import type { CallChange, StreamPosition } from "../../../core/ports/call-history.ts";
import type { HistoryRebuild } from "../../../core/ports/history-rebuild.ts";
import type { SqliteCallHistoryWriter } from "../calls/sqlite-call-history-writer.ts";
import { forgetFormer, type FormerFile } from "../database/former-file.ts";
import { FormerReader } from "./former-reader.ts";
import type { RebuiltReads } from "./rebuilt-reads.ts";

export interface SqliteRebuildParts {
  /** The file that is filled. */
  readonly file: string;
  readonly former: FormerFile;
  readonly writer: SqliteCallHistoryWriter;
  readonly reads: RebuiltReads;
}

/** Ranges of the former file that are looked at in one go, where nothing can be read. */
const rangesAtOnce = 20;
/**
 * What revisions of a stream get that cannot be told from another one, so that each of today's is greater: a record that
 * changes again must count.
 */
const unknownStream = -(2 ** 51);

type NextCalls = ReturnType<FormerReader["calls"]>;

/** Fills a file from the one that was in its place. */
export class SqliteHistoryRebuild implements HistoryRebuild {
  readonly #parts: SqliteRebuildParts;
  readonly #former: FormerReader;
  readonly position: StreamPosition | undefined;
  isUnderWay = true;
  /** Calls that were read and are not stored. */
  #next: NextCalls | undefined;

  constructor(parts: SqliteRebuildParts) {
    this.#parts = parts;
    this.#former = new FormerReader(parts.former.path);
    this.position = this.#former.position();
  }

  get reason(): string {
    return this.#parts.former.reason;
  }

  get hasLosses(): boolean {
    return this.#former.hasLosses;
  }

  async seed(): Promise<void> {
    const { writer } = this.#parts;
    for (const tombstones of this.#former.tombstones()) {
      writer.change(({ tombstones: table }) => {
        for (const one of tombstones)
          table.adopt(one.revision === null ? one : { ...one, revision: one.revision + this.#offset });
      });
      await afterOthers();
    }
    for (const intervals of this.#former.intervals()) {
      writer.change(({ rollups }) => rollups.adopt(intervals));
      await afterOthers();
    }
    writer.change(({ progress, rollups }) => {
      rollups.ignoreBefore(this.#former.rollupsSince());
      for (const gap of this.#former.gaps()) progress.addGap(gap);
      if (this.position !== undefined && progress.position() === undefined) progress.setPosition(this.position);
    });
  }

  async copySome(): Promise<boolean> {
    const { calls, more } = (this.#next ??= this.#nextCalls());
    await this.#add(calls.filter(({ row }) => !this.#parts.reads.isHidden(row.namespace)));
    this.#next = undefined;
    return more;
  }

  async addUnknown(changes: readonly CallChange[]): Promise<number> {
    const { writer } = this.#parts;
    const unknown = writer.change(({ calls, tombstones }) => {
      const ignoredUpTo = tombstones.ignoring();
      return changes.filter(
        (change) =>
          change.kind !== "sync" && calls.find(change.id) === undefined && ignoredUpTo(change.id) === undefined,
      );
    });
    await writer.apply({ changes: unknown, rollups: [] });
    return unknown.length;
  }

  hide(namespace: string): void {
    this.#parts.reads.hide(namespace);
  }

  async finish(): Promise<void> {
    const { file, former, reads } = this.#parts;
    await reads.finish();
    this.close();
    await forgetFormer(file, former);
    this.isUnderWay = false;
  }

  close(): void {
    this.#former[Symbol.dispose]();
  }

  get #offset(): number {
    return this.position === undefined ? unknownStream : 0;
  }

  #nextCalls(): NextCalls {
    for (let looked = 1; ; looked += 1) {
      const next = this.#former.calls();
      if (!next.more || next.calls.length > 0 || looked === rangesAtOnce) return next;
    }
  }

  async #add(calls: readonly HistoryCall[]): Promise<void> {
    const { writer } = this.#parts;
    await writer.apply({ changes: calls.flatMap((call) => formerChanges(call, this.#offset)), rollups: [] });
    const unknown = calls.filter(({ row }) => row.state === "unknown");
    if (unknown.length === 0) return;
    // A record that came later says more.
    const ids = writer.change(({ calls: table }) =>
      unknown
        .filter(({ row }) => table.find(row.id)?.row.revision === row.revision + this.#offset)
        .map(({ row }) => row.id),
    );
    await writer.markUnknown(ids);
  }
}
