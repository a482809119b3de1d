import type { CallRecord } from "../../runtime/api/call-record.ts";
import { eventually } from "./eventually.ts";
import { checkInvariants, type Allowance, type Counts, type SettledCall } from "./ledger-invariants.ts";
import { readLedger, type Account } from "./ledger.ts";
import type { Platform } from "./platform.ts";

export interface SettleOptions extends Allowance {
  /** Where the sender, the function and the receiver of callbacks wrote. */
  readonly directory: string;
  /** Milliseconds from now until the streams must be empty. */
  readonly within: number;
}

/** What a platform's account came to. */
export interface Settled {
  readonly account: Account;
  readonly counts: Counts;
  /** One sentence for each invariant that does not hold, I1 to I10, and what is known of the calls they name. */
  readonly violations: readonly string[];
}

const readers = 16;

/**
 * Waits until the queue is empty (I8), then reads every call's record and status and checks the other invariants.
 * Slots must be free again and no process may have ended by itself (I9).
 */
export async function settleAccount(platform: Platform, options: SettleOptions): Promise<Settled> {
  const { directory, within, ...allowance } = options;
  const violations: string[] = [];
  try {
    await eventually(() => isQuiet(platform), {
      within,
      every: 100,
      what: "the streams to be empty and the slots free",
    });
  } catch (err) {
    violations.push(`I8: ${err instanceof Error ? err.message : String(err)}`);
  }
  const account = readLedger(directory);
  const statuses = new Map<string, CallRecord>();
  const records = new Map<string, SettledCall>();
  const ids = account.sent.map(({ id }) => id);
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

/** Faults may just have ended: until the gateway is connected again it knows nothing. */
async function statusOf(platform: Platform, id: string): Promise<CallRecord | undefined> {
  const looked = await eventually(async () => ({ status: await platform.calls.status(id) }), {
    within: 10_000,
    what: `the status of ${id}`,
  });
  return looked.status;
}

async function isQuiet(platform: Platform): Promise<boolean> {
  const calls = await platform.broker.calls();
  const callbacks = await platform.broker.callbacks();
  const left = [calls, callbacks].flatMap(({ messages, pending, unanswered }) => [messages, pending, unanswered]);
  for (const worker of platform.workers) {
    if (worker.running) left.push(await platform.metric(worker, "queue_worker_function_invocation_inflight"));
  }
  if (left.some((count) => count !== 0))
    throw new Error(`left over: calls ${JSON.stringify(calls)}, callbacks ${JSON.stringify(callbacks)}`);
  return true;
}
