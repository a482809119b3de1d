import { PlatformError } from "../../runtime/api/platform-error.ts";
import type { CallEntry } from "../../runtime/core/calls/call-entry.ts";
import type { HistoryProgress } from "../../runtime/core/ports/call-history.ts";
import type { ObservedAccess } from "../../runtime/gateway/access/access-observer.ts";
import type { AppParts, HistoryParts } from "../../runtime/gateway/rest/app-parts.ts";
import { sampleCall, sampleEntry } from "../contract/samples.ts";
import { FakeTokens } from "./fake-tokens.ts";
import { memoryQueues } from "./memory-queues.ts";
import { MemoryCallHistory } from "./memory/memory-call-history.ts";
import { MemoryKeptLogs } from "./memory/memory-kept-logs.ts";
import { MemoryCallLedger } from "./memory/memory-call-ledger.ts";
import { MemoryDeadLetters } from "./memory/memory-dead-letters.ts";
import { MemoryKeptRequests } from "./memory/memory-kept-requests.ts";
import { MemoryReplays } from "./memory-replays.ts";
import { openRestPlatform, type RestPlatform } from "./rest-platform.ts";

const minute = 60_000;

/** What a history that is away rejects with. */
export const historyAway = new PlatformError("history_unavailable", "Cannot read the history of calls: it is away", {
  retryAfterSeconds: 2,
});
const reject = () => Promise.reject(historyAway);

/** A history whose process is away. */
export const awayHistory: HistoryParts = {
  reads: { list: reject, get: reject, replaysOf: reject, functions: reject, gaps: reject, rollups: reject },
  progress: reject,
  remove: reject,
};

/** The id of a numbered call. */
export function numberedId(number: number): string {
  return `7f3c1d52-5c0e-4d7b-9a53-${String(number).padStart(12, "0")}`;
}

/** Members of a record of a call that has not run yet. */
export const openRecord = { state: "queued", ended: null, status: null } as const;

/** The REST side of a gateway of edition enterprise, with records and history in memory. */
export class HistoryGateway implements AsyncDisposable {
  /** When call 0 was accepted, a whole minute, Unix milliseconds. */
  readonly start = Math.floor(Date.now() / minute) * minute - 30 * minute;
  readonly tokens = new FakeTokens();
  readonly refused: ObservedAccess[] = [];
  readonly changed: ObservedAccess[] = [];
  readonly ledger = new MemoryCallLedger();
  readonly kept = new MemoryCallHistory();
  readonly lines = new MemoryKeptLogs();
  readonly letters = new MemoryDeadLetters();
  readonly requests = new MemoryKeptRequests();
  /** What replays are put into, and the functions that they can be of. */
  readonly replays = new MemoryReplays(this.ledger);
  progress: HistoryProgress = { lagSeconds: 0.2, complete: true, gaps: [] };
  #platform: RestPlatform | undefined;

  static async open(over: Partial<Pick<AppParts, "history" | "queueParts">> = {}): Promise<HistoryGateway> {
    const opened = new HistoryGateway();
    const { kept, ledger, letters, lines, replays, requests } = opened;
    opened.#platform = await openRestPlatform({
      edition: "enterprise",
      tokens: opened.tokens.parts,
      observer: {
        refused: (access) => opened.refused.push(access),
        changed: (access) => opened.changed.push(access),
      },
      queueParts: { ...memoryQueues(), ledger, letters },
      requests,
      acceptReplay: replays.accept,
      history: {
        reads: kept,
        logs: { reads: lines, remove: (ref, places) => lines.remove(ref, places) },
        progress: async () => opened.progress,
        remove: (id) => kept.remove(id),
      },
      ...over,
    });
    return opened;
  }

  get platform(): RestPlatform {
    if (this.#platform === undefined) throw new Error("it is not open");
    return this.#platform;
  }

  /** A record that ended a second after its acceptance, `number` minutes after call 0. */
  entry(number: number, over: Partial<CallEntry> = {}): CallEntry {
    const accepted = this.start + number * minute;
    return {
      ...sampleEntry({}, sampleCall({ id: numberedId(number), function: { namespace: "functions", name: "hello" } })),
      accepted: (BigInt(accepted) * 1_000_000n).toString(),
      state: "done",
      ended: accepted + 1_000,
      status: 200,
      ...over,
    };
  }

  /** Writes a record that the history does not see yet; resolves with its revision. */
  async writeUnseen(number: number, over: Partial<CallEntry> = {}): Promise<number> {
    const id = numberedId(number);
    const before = await this.ledger.read(id);
    const entry = this.entry(number, over);
    const written =
      before === undefined
        ? await this.ledger.create(id, entry, performance.now() + 10_000)
        : await this.ledger.update(id, entry, before.revision);
    if ("revision" in written) return written.revision;
    throw new Error(`the record was not written: ${written.kind}`);
  }

  /** Writes a record that the history has seen; resolves with the id. */
  async write(number: number, over: Partial<CallEntry> = {}): Promise<string> {
    await this.keep(number, await this.writeUnseen(number, over), over);
    return numberedId(number);
  }

  /** Lets the history see a record that is not there any more, or was never. */
  async keep(number: number, revision: number, over: Partial<CallEntry> = {}): Promise<void> {
    const entry = this.entry(number, over);
    await this.kept.apply({ changes: [{ kind: "entry", id: numberedId(number), revision, entry }], rollups: [] });
  }

  /** Sends a request; as the administrator, or with these credentials. */
  async send(
    method: string,
    path: string,
    authorization?: string,
    body?: unknown,
  ): Promise<readonly [status: number, text: string]> {
    const headers = authorization === undefined ? {} : { authorization };
    const response = await this.platform.call(method, path, body, headers);
    return [response.status, await response.text()];
  }

  /** The JSON at a path; rejects unless it is 200. */
  async json<T>(path: string, authorization?: string): Promise<T> {
    const [status, text] = await this.send("GET", path, authorization);
    if (status !== 200) throw new Error(`GET ${path} replied ${status}: ${text}`);
    return JSON.parse(text);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#platform?.[Symbol.asyncDispose]();
  }
}
