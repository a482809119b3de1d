import type { CallRecord } from "../../runtime/api/schemas/call-record.ts";
import { eventually } from "./eventually.ts";
import { checkInvariants, type Allowance, type Counts, type SettledCall } from "./ledger-invariants.ts";
import { readLedger, type Account } from "./ledger.ts";
import type { Holdings } from "./platform-process.ts";
import type { WorkState } from "./platform-broker.ts";
import type { Platform } from "./platform.ts";

export interface SettleOptions extends Allowance {
  /** Where the sender, the function and the receiver of callbacks wrote. */
  readonly directory: string;
  /** Milliseconds in which what is left must become less, again and again until nothing is: a busy machine empties a queue slowly. */
  readonly within: number;
  /** Ends of calls that were read before, as their records may be gone by now. */
  readonly known?: ReadonlyMap<string, CallRecord>;
  /** What each process held before the faults (`holdingsOf`); without, only its slots and its life are looked at. */
  readonly before?: ReadonlyMap<string, Holdings>;
}

/** What a platform's account came to. */
export interface Settled {
  readonly account: Account;
  readonly counts: Counts;
  /** One sentence for each invariant that does not hold, I1 to I10, and what is known of the calls they name. */
  readonly violations: readonly string[];
}

const readers = 16;
/** I9: descriptors, and memory as a share and in bytes for what a small heap grows by anyway. */
const moreDescriptors = 5;
const moreMemory = { share: 0.2, bytes: 6 * 1_048_576 };

/** What every process of the platform that runs holds now, by its name. */
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

/** Idle connections take a moment to go. */
async function leaks(platform: Platform, before: ReadonlyMap<string, Holdings>): Promise<string[]> {
  const look = async (): Promise<string[]> => {
    const now = await holdingsOf(platform);
    return [...before].flatMap(([name, held]) => {
      const holds = now.get(name);
      if (holds === undefined) return [];
      const most = { memory: held.memory * (1 + moreMemory.share) + moreMemory.bytes };
      return [
        ...(holds.descriptors > held.descriptors + moreDescriptors
          ? [`I9: ${name} holds ${holds.descriptors} descriptors, ${held.descriptors} before`]
          : []),
        ...(holds.memory > most.memory ? [`I9: ${name} holds ${holds.memory} bytes, ${held.memory} before`] : []),
      ];
    });
  };
  let found: string[] = [];
  await eventually(async () => (found = await look()).length === 0, { every: 200, what: "it" }).catch(() => undefined);
  return found;
}

/** Faults may just have ended: until the gateway is connected again it knows nothing. */
async function statusOf(platform: Platform, id: string): Promise<CallRecord | undefined> {
  const looked = await eventually(async () => ({ status: await platform.calls.status(id) }), {
    what: `the status of ${id}`,
  });
  return looked.status;
}

/** Resolves when nothing is in any queue and no slot is taken; rejects, saying what is left, once that became no less for `within` milliseconds. */
export async function becomesQuiet(platform: Platform, within: number): Promise<void> {
  for (let least = Number.POSITIVE_INFINITY; least > 0;) {
    least = await eventually(
      async () => {
        const { count, states } = await leftOver(platform);
        if (count < least) return { count };
        throw new Error(`left over: ${JSON.stringify(states)}`);
      },
      { within, every: 100, what: "the streams to be empty and the slots free" },
    ).then(({ count }) => count);
  }
}

async function leftOver(platform: Platform): Promise<{ count: number; states: Record<string, WorkState> }> {
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
