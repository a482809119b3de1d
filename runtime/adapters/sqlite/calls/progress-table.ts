import type { DatabaseSync, StatementSync } from "node:sqlite";

import type { HistoryGap, StreamPosition } from "../../../core/ports/call-history.ts";

/** How far the records were read, and what was missed. */
export class ProgressTable {
  readonly #position: StatementSync;
  readonly #setPosition: StatementSync;
  readonly #addGap: StatementSync;
  readonly #trimGaps: StatementSync;

  constructor(database: DatabaseSync) {
    this.#position = database.prepare("SELECT position FROM progress WHERE one = 1");
    this.#setPosition = database.prepare("UPDATE progress SET position = ? WHERE one = 1");
    this.#addGap = database.prepare(
      "INSERT INTO gap VALUES (?, ?) ON CONFLICT (since) DO UPDATE SET until = max(until, excluded.until)",
    );
    this.#trimGaps = database.prepare("DELETE FROM gap WHERE until < ?");
  }

  position(): StreamPosition | undefined {
    const position = this.#position.get()?.["position"];
    return typeof position === "string" ? (JSON.parse(position) as StreamPosition) : undefined;
  }

  setPosition(position: StreamPosition): void {
    this.#setPosition.run(JSON.stringify(position));
  }

  /** A gap that grew is given again, with the same begin. */
  addGap({ from, to }: HistoryGap): void {
    this.#addGap.run(Math.floor(from), Math.ceil(to));
  }

  trimGaps(before: number): void {
    this.#trimGaps.run(before);
  }
}
