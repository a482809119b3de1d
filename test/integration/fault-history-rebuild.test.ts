import { existsSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import type { CallHistory, CallPage } from "../../runtime/core/ports/call-history.ts";
import { untilRowsAreRecords } from "../support/call-rows.ts";
import { eventually } from "../support/eventually.ts";
import { historyProcess } from "../support/history-process.ts";
import { historyTables } from "../support/history-tables.ts";
import { openRecordBroker } from "../support/record-broker.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { writtenRecords } from "../support/written-records.ts";

/** Lists all calls again and again: each must be there once, whatever goes on. */
class ListsDuring {
  count = 0;
  readonly done: Promise<void>;

  constructor(reads: CallHistory, ids: ReadonlySet<string>, signal: AbortSignal) {
    this.done = this.#listUntil(reads, ids, signal);
    // It is awaited in the end.
    this.done.catch(() => {});
  }

  async more(lists: number): Promise<void> {
    const before = this.count;
    const isThere = eventually(() => this.count >= before + lists, { what: "further lists" });
    await Promise.race([isThere, this.done]);
    await isThere;
  }

  async #listUntil(reads: CallHistory, ids: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const listed: string[] = [];
      for (let after: CallPage["next"]; ;) {
        const from = after;
        const query = { filter: {}, limit: 200, ...(from === undefined ? {} : { after: from }) };
        // While the process starts there is no reply; the page is asked for again.
        const page = await eventually(() => reads.list(query), { every: 20, what: "a page" });
        listed.push(...page.rows.map(({ id }) => id));
        after = page.next;
        if (after === undefined) break;
      }
      const found = new Set(listed);
      expect(listed.length - found.size, "calls that were listed twice").toBe(0);
      expect([...ids].filter((id) => !found.has(id))).toEqual([]);
      this.count += 1;
    }
  }
}

test("FH5 filled anew under load, during lists: pages without doubles or holes, and equal tables", async () => {
  await using directory = await tempDirectory("rebuild");
  await using broker = await openRecordBroker();
  const place = { directory: directory.path, server: broker.server };
  const plain = await historyProcess(place);
  const rebuilt = await historyProcess({ ...place, flags: ["--rebuild"] });
  const { reads } = plain;
  const file = join(directory.path, "calls.db");
  const records = writtenRecords(broker.ledger);
  const stop = new AbortController();
  const untilFilled = () =>
    eventually(async () => !existsSync(`${file}.rebuilding`) && (await reads.progress()).complete, {
      what: "the history to be filled",
    });
  try {
    await plain.process.start();
    const [removed = "", ...ids] = await broker.flood(4_000);
    await eventually(async () => (await reads.list({ filter: {}, limit: 1 })).total.value === 4_000, {
      what: "all rows",
    });
    expect(await reads.remove(removed)).toBe(true);
    const load = records.load(100, stop.signal);
    const lists = new ListsDuring(reads, new Set(ids), stop.signal);
    await lists.more(1);
    await plain.process.stop();
    await rebuilt.process.start();
    await untilFilled();
    await lists.more(2);
    stop.abort();
    await load;
    await lists.done;
    const all = [...ids, ...records.calls.keys()];
    await untilRowsAreRecords({ reads, ledger: broker.ledger, ids: all });
    expect(await reads.get(removed)).toBeUndefined();
    expect(await reads.progress()).toMatchObject({ complete: true, gaps: [] });
    const said = rebuilt.process.log.filter(({ msg }) => msg === "the history was filled anew");
    expect(said).toMatchObject([{ isWhole: true }]);

    await rebuilt.process.stop();
    const before = historyTables(file);
    await rebuilt.process.start();
    await untilFilled();
    await rebuilt.process.stop();
    expect(rebuilt.process.log.filter(({ msg }) => msg === "the history was filled anew")).toHaveLength(2);
    expect(historyTables(file)).toEqual(before);
    expect([...plain.process.mishaps, ...rebuilt.process.mishaps]).toEqual([]);
  } finally {
    stop.abort();
    await Promise.all([plain, rebuilt].map(({ process }) => process.kill()));
    await Promise.all([plain, rebuilt].map((each) => each.reads.close()));
  }
}, 180_000);
