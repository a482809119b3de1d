import type { CallRecord } from "../../runtime/api/schemas/call-record.ts";
import { eventually } from "./eventually.ts";
import { checkInvariants, type Allowance, type Counts, type SettledCall } from "./ledger-invariants.ts";
import { readLedger, type Account } from "./ledger.ts";
import type { Holdings } from "./platform-process.ts";
import type { WorkState } from "./platform-broker.ts";
import type { Platform } from "./platform.ts";

export interface SettleOptions extends Allowance {
  /** Where the sender, the function and the receiver of callbacks wrote their ledgers. */
  readonly directory: string;
  /** Milliseconds within which the remaining work must decrease, until none is left: a busy machine is slow. */
  readonly within: number;
  /** Ends of calls that were read earlier, as their records may have expired. */
  readonly known?: ReadonlyMap<string, CallRecord>;
  /** What each process held before the faults (`holdingsOf`); without, only slots and unexpected ends are checked. */
  readonly before?: ReadonlyMap<string, Holdings>;
}

/** The result of a platform's account. */
export interface Settled {
  readonly account: Account;
  readonly counts: Counts;
  /** One sentence for each violated invariant, I1 to I10, and the records and runs of the calls that they name. */
  readonly violations: readonly string[];
}

const readers = 16;
/** I9: allowed growth of descriptors, and of memory as a share plus the bytes by which a small heap grows anyway. */
const moreDescriptors = 5;
const moreMemory = { share: 0.2, bytes: 6 * 1_048_576 };

/** What each running process of the platform holds now, by its name. */
export async function holdingsOf(platform: Platform): Promise<Map<string, Holdings>> {
  const held = new Map<string, Holdings>();
  const workers = platform.queues.flatMap((queue) => queue.workers);
  for (const process of [platform.doctor, ...platform.gateways, ...workers]) {
    if (process.running) held.set(process.name, await process.measure());
  }
  return held;
}

/**
 * Waits until the queue is empty (I8), then reads every call's record and status and checks the other invariants.
 * Slots must be free again and no process may have ended by itself (I9).
 */
export async function settleAccount(platform: Platform, options: SettleOptions): Promise<Settled> {
  const { directory, within, before = new Map(), known = new Map(), ...allowance } = options;
  const violations: string[] = [];
  try {
    await becomesQuiet(platform, within);
  } catch (err) {
    violations.push(`I8: ${err instanceof Error ? err.message : String(err)}`);
  }
  violations.push(...(await leaks(platform, before)));
  const account = readLedger(directory);
  const statuses = new Map<string, CallRecord>(known);
  const records = new Map<string, SettledCall>(known);
  const ids = account.sent.map(({ id }) => id).filter((id) => !known.has(id));
  const readNext = async (): Promise<void> => {
    for (let id = ids.pop(); id !== undefined; id = ids.pop()) {
      const status = await statusOf(platform, id);
      if (status !== undefined) statuses.set(id, status);
      const record = await platform.broker.ledger.read(id);
      if (record !== undefined) records.set(id, record.entry);
    }
  };
  await Promise.all(Array.from({ length: readers }, readNext));

  const checked = checkInvariants({ ...account, statuses, records }, allowance);
  violations.push(...checked.violations.map(({ sentence }) => sentence));
  for (const [id, status] of statuses) {
    if (!violations.some((sentence) => sentence.includes(id))) continue;
    const runs = account.runs.filter((run) => run.id === id);
    violations.push(`${JSON.stringify(status)}, runs: ${JSON.stringify(runs)}`);
  }
  try {
    platform.checkProcesses();
  } catch (err) {
    violations.push(`I9: ${err instanceof Error ? err.message : String(err)}`);
  }
  return { account, counts: checked.counts, violations };
}

/** Checks repeatedly: idle connections take a moment to close. */
async function leaks(platform: Platform, before: ReadonlyMap<string, Holdings>): Promise<string[]> {
  const check = async (): Promise<string[]> => {
    const now = await holdingsOf(platform);
    return [...before].flatMap(([name, held]) => {
      const holds = now.get(name);
      if (holds === undefined) return [];
      const limit = { memory: held.memory * (1 + moreMemory.share) + moreMemory.bytes };
      return [
        ...(holds.descriptors > held.descriptors + moreDescriptors
          ? [`I9: ${name} holds ${holds.descriptors} descriptors, ${held.descriptors} before`]
          : []),
        ...(holds.memory > limit.memory ? [`I9: ${name} holds ${holds.memory} bytes, ${held.memory} before`] : []),
      ];
    });
  };
  let found: string[] = [];
  await eventually(async () => (found = await check()).length === 0, { every: 200, what: "it" }).catch(() => undefined);
  return found;
}

/** Reads repeatedly: after a fault the gateway knows nothing until it has reconnected. */
async function statusOf(platform: Platform, id: string): Promise<CallRecord | undefined> {
  const found = await eventually(async () => ({ status: await platform.calls.status(id) }), {
    what: `the status of ${id}`,
  });
  return found.status;
}

/** Resolves when queues are empty and slots free; rejects if the rest did not decrease for `within` milliseconds. */
export async function becomesQuiet(platform: Platform, within: number): Promise<void> {
  for (let least = Number.POSITIVE_INFINITY; least > 0;) {
    least = await eventually(
      async () => {
        const { count, states } = await remainingWork(platform);
        if (count < least) return { count };
        throw new Error(`left over: ${JSON.stringify(states)}`);
      },
      { within, every: 100, what: "the streams to be empty and the slots free" },
    ).then(({ count }) => count);
  }
}

async function remainingWork(platform: Platform): Promise<{ count: number; states: Record<string, WorkState> }> {
  const states: Record<string, WorkState> = { callbacks: await platform.broker.callbacks() };
  let count = 0;
  for (const { name, workers } of platform.queues) {
    states[`calls of ${name}`] = await platform.broker.calls(name);
    for (const worker of workers) {
      if (worker.running) count += await platform.metric(worker, "queue_worker_function_invocation_inflight");
    }
  }
  for (const { messages, pending, unanswered } of Object.values(states)) count += messages + pending + unanswered;
  return { count, states };
}
