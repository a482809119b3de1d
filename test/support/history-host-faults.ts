import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";

import { expect } from "vitest";

import type { CallPageView } from "../../runtime/api/schemas/history/call-page.ts";
import { callPages } from "./call-pages.ts";
import { eventually } from "./eventually.ts";
import type { HistoryHost } from "./history-host.ts";
import { overwritePages } from "./overwrite-pages.ts";
import { isAlive, type KnownProcess } from "./process-tree.ts";
import type { SmallDisk } from "./small-disk.ts";

const missedAfter = 10_000;

/** Lists all calls again and again: a list that says it lacks nothing must have these calls. */
export class RepeatedLists {
  /** Lists so far that lacked nothing. */
  whole = 0;
  /** Resolves when `signal` has aborted; rejects when a list was wrong. */
  readonly done: Promise<void>;

  constructor(host: HistoryHost, ids: readonly string[], signal: AbortSignal) {
    this.done = this.#listUntil(host, ids, signal);
    // It is awaited in the end, if nothing fails before.
    this.done.catch(() => {});
  }

  /** Resolves when one more list lacks nothing. */
  async oneMore(): Promise<void> {
    const before = this.whole;
    const isThere = eventually(() => this.whole > before, { what: "a list that lacks nothing" });
    await Promise.race([isThere, this.done]);
    await isThere;
  }

  async #listUntil({ get }: HistoryHost, ids: readonly string[], signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const listed = new Set<string>();
      const states: CallPageView["history"][] = [];
      for await (const { items, history } of callPages(get, { limit: 50, signal })) {
        for (const { callId } of items) listed.add(callId);
        states.push(history);
      }
      if (!states.every(({ complete, lagSeconds }) => complete && lagSeconds < 1)) continue;
      const missing = ids.filter((id) => !listed.has(id));
      expect(missing, `of ${ids.length}, ${listed.size} listed: ${JSON.stringify(states)}`).toEqual([]);
      this.whole += 1;
    }
  }
}

/** Ends the history, damages its file before the host starts it again, and resolves with the next one that serves. */
export async function damageHistory(
  host: HistoryHost,
  running: KnownProcess,
  from: number,
  to: number,
): Promise<KnownProcess> {
  const file = join(host.directory, "calls.db");
  await rm(`${file}.damaged`, { force: true });
  // It closes the file, so that nothing of it is in the log.
  process.kill(running.pid, "SIGTERM");
  await eventually(() => !isAlive(running), { every: 1, what: "the history to end" });
  await overwritePages(file, from, to);
  const isAside = { what: "the damaged file to be moved aside" };
  await eventually(() => existsSync(`${file}.damaged`), { ...isAside, within: missedAfter }).catch(async () => {
    // On a busy machine the next one was faster, and has in memory what was overwritten.
    process.kill((await host.serving(running)).pid, "SIGKILL");
    await eventually(() => existsSync(`${file}.damaged`), isAside);
  });
  return host.serving(running);
}

/** Stops the history for at least `duration` milliseconds, in which the gateway says that it is away. */
export async function stopHistory(host: HistoryHost, running: KnownProcess, duration: number): Promise<void> {
  const until = performance.now() + duration;
  process.kill(running.pid, "SIGSTOP");
  try {
    do {
      const { status, text } = await host.get("/system/calls");
      expect([status, text]).toEqual([503, expect.stringContaining("no reply within 2000 ms")]);
    } while (performance.now() < until);
  } finally {
    process.kill(running.pid, "SIGCONT");
  }
  await host.serving();
}

/** Fills its disk, calls `meanwhile`, and frees the disk again; the history says both. */
export async function fillHistory(
  { weir }: HistoryHost,
  disk: Pick<SmallDisk, "fill" | "empty">,
  meanwhile: () => Promise<void> = async () => {},
): Promise<void> {
  const said = (text: string) => eventually(() => weir.output().includes(text), { what: `"${text}"` });
  disk.fill(0);
  await said("cannot store the history of calls");
  await meanwhile();
  disk.empty();
  await said("the history of calls is stored again");
}
