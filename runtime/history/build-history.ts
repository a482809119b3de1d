import type { FunctionRef } from "../core/functions/function-ref.ts";
import { isFunction } from "../core/history/rollups/presence.ts";
import { Leadership } from "../core/leadership.ts";
import type { CallHistory, CallHistoryWriter, HistoryBounds, HistoryProgress } from "../core/ports/call-history.ts";
import type { CallErasure, LineErasure } from "../core/ports/history-erasure.ts";
import type { HistoryRebuild } from "../core/ports/history-rebuild.ts";
import type { HistoryReports } from "../core/ports/history-reports.ts";
import type { KeptRequests } from "../core/ports/kept-requests.ts";
import type { Leases } from "../core/ports/leases.ts";
import type { LetterFacts } from "../core/ports/letter-facts.ts";
import type { RecordChanges } from "../core/ports/record-changes.ts";
import { SharedRead } from "../core/shared-read.ts";
import type { Log } from "../process/log.ts";
import { pauseFor } from "../process/pause-for.ts";
import { eraseFunction, type ErasedFunction } from "./erase/erase-function.ts";
import type { HistoryMetrics } from "./history-metrics.ts";
import { HistoryWrites } from "./history-writes.ts";
import { OpenCallsCheck } from "./projection/check-open-calls.ts";
import { ReadState } from "./projection/read-state.ts";
import { storeRecords } from "./projection/store-records.ts";
import { fillRebuild, seedRebuild } from "./rebuild/rebuild-history.ts";
import { ReportStore } from "./reports/store-reports.ts";
import { removeDeleted, type NamespaceFacts } from "./remove-deleted.ts";
import { trimHistory } from "./trim-history.ts";

/** Everything a history process works with. */
export interface HistoryProcessParts {
  readonly records: RecordChanges;
  readonly reports: HistoryReports;
  readonly leases: Leases;
  readonly letters: LetterFacts;
  readonly requests: Pick<KeptRequests, "removeFunction">;
  readonly reads: CallHistory;
  readonly writer: CallHistoryWriter & Partial<CallErasure>;
  /** Absent = no log lines are kept. */
  readonly logs?: { readonly writer: Partial<LineErasure> } | undefined;
  /** Absent = the history is not filled anew. */
  readonly rebuild?: HistoryRebuild | undefined;
  readonly bounds: HistoryBounds;
  readonly namespaces: NamespaceFacts["namespaces"];
  readonly defaultNamespace: string;
  /** Keeps log lines until its signal aborts; never rejects. Absent = none are kept. */
  readonly keepLogs?: ((stop: AbortSignal) => Promise<unknown>) | undefined;
  /** Milliseconds. */
  readonly leaseTtl: number;
  readonly metrics: HistoryMetrics;
  readonly log: Log;
  /** Unix milliseconds. */
  readonly now?: () => number;
}

/** Writes the history, and says how far it is. Leader-elected: of several processes one writes, all may be read. */
export interface BuiltHistory {
  /** Writes as leader until `stop` aborts; then releases the lease. Never rejects. */
  run(stop: AbortSignal): Promise<void>;
  progress(): Promise<HistoryProgress>;
  /** Removes a call for good; false if it is open. */
  remove(id: string): Promise<boolean>;
  /** Removes what is kept of the calls of a function. */
  erase(ref: FunctionRef): Promise<ErasedFunction>;
  /** Why nothing can be stored; undefined = it can. */
  readonly problem: string | undefined;
}

/** Milliseconds after which gaps are read again: they leave the history with the calls of their time. */
const gapsLife = { success: 10_000, failure: 0 };
/** Seconds behind the records up to which the history counts as complete. */
const completeWithin = 30;

/** Assembles a history process; nothing happens before `run`. */
export function buildHistory(parts: HistoryProcessParts): BuiltHistory {
  const { records, reads, rebuild, metrics, log, now = Date.now } = parts;
  const writes = new HistoryWrites(parts.writer);
  const monotonic = (): number => performance.now();
  const state = new ReadState({ now: () => records.now(), monotonic });
  const check = new OpenCallsCheck({ records, writes, state, log });
  const gaps = new SharedRead(() => reads.gaps(), gapsLife, monotonic);
  let problem: string | undefined;
  /** False until records were read into a new store: it has nothing, however short the time. */
  let hasBegun = false;
  let running: AbortSignal = new AbortController().signal;
  let term: { readonly over: AbortController; readonly work: Promise<unknown> } | undefined;

  const onTrouble = (err: Error | undefined): void => {
    const reason = err?.message;
    if (reason !== undefined && reason !== problem) log.error({ err }, "cannot store the history of calls");
    if (reason === undefined && problem !== undefined) log.info("the history of calls is stored again");
    problem = reason;
  };
  const rebuildParts = rebuild && { ...parts, rebuild, writes, state, age: parts.bounds.age, log, now, monotonic };
  const fill = async (stop: AbortSignal): Promise<void> => {
    if (rebuildParts?.rebuild.isUnderWay !== true || !(await fillRebuild(rebuildParts, stop))) return;
    gaps.forget();
    check.ask();
  };
  const work = async (stop: AbortSignal): Promise<unknown> => {
    if (rebuildParts?.rebuild.isUnderWay === true) await seedRebuild(rebuildParts, stop);
    return Promise.all([
      fill(stop),
      storeRecords(
        { records, writes, state, metrics, log, onTrouble, onMissed: () => check.ask(), onGap: () => gaps.forget() },
        stop,
      ),
      new ReportStore({ reports: parts.reports, writes, metrics, log, now }).run(stop),
      check.run(stop),
      trimHistory({ writes, bounds: parts.bounds, metrics, log, now }, stop),
      removeDeleted(
        {
          kept: async () => [
            ...new Set((await reads.functions()).filter(isFunction).map(({ namespace }) => namespace)),
          ],
          remove: (namespace) => {
            rebuild?.hide(namespace);
            return writes.run((writer) => writer.removeNamespace(namespace));
          },
          namespaces: parts.namespaces,
          defaultNamespace: parts.defaultNamespace,
          log,
        },
        stop,
      ),
      parts.keepLogs?.(stop),
    ]);
  };
  const endTerm = async (): Promise<void> => {
    const ending = term;
    term = undefined;
    ending?.over.abort();
    await ending?.work;
  };
  const leadership = new Leadership({
    leases: parts.leases,
    name: "process.history",
    leaseTtl: parts.leaseTtl,
    now: monotonic,
    pause: pauseFor,
    onChange: (leads) => {
      log.info({ leads }, leads ? "became leader" : "lost leadership");
      const ended = endTerm();
      if (!leads) return;
      const over = new AbortController();
      term = { over, work: ended.then(() => work(AbortSignal.any([over.signal, running]))) };
    },
    onError: (err) => log.debug({ err }, "cannot ask for the lease"),
  });
  metrics.leads = () => leadership.leads;
  metrics.lag = () => state.lagSeconds;

  const lagSeconds = async (): Promise<number> => {
    if (leadership.leads) return state.lagSeconds;
    // Another process writes: what it stored last says how far it is.
    const position = await parts.writer.position();
    return position === undefined ? 0 : Math.max(0, records.now() - position.at) / 1_000;
  };
  return {
    run: async (stop) => {
      running = stop;
      await leadership.run(stop);
      await endTerm();
      await writes.idle();
    },
    progress: async () => {
      // First, as what is listed with it is read at the same time.
      const lag = await lagSeconds();
      hasBegun ||= (await parts.writer.position()) !== undefined;
      if (rebuild?.isUnderWay === true) {
        const { position } = rebuild;
        const behind = position === undefined ? lag : Math.max(lag, (records.now() - position.at) / 1_000);
        return { lagSeconds: behind, complete: false, gaps: await gaps.get() };
      }
      return { lagSeconds: lag, complete: hasBegun && lag <= completeWithin, gaps: await gaps.get() };
    },
    remove: (id) => writes.run((writer) => writer.remove(id)),
    erase: (ref) => eraseFunction({ ...parts, writes, isRebuilding: rebuild?.isUnderWay === true }, ref),
    get problem() {
      return problem;
    },
  };
}
