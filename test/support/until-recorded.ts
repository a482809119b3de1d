import type { CallHistory } from "../../runtime/core/ports/call-history.ts";
import type { CallLedger } from "../../runtime/core/ports/call-ledger.ts";
import { eventually } from "./eventually.ts";
import type { WrittenRecords } from "./written-records.ts";

/** Waits until a history has what the records say, call by call; resolves with how many calls it should have. */
export async function untilRecorded(
  reads: Pick<CallHistory, "get">,
  ledger: Pick<CallLedger, "read">,
  { calls }: Pick<WrittenRecords, "calls">,
): Promise<number> {
  for (const [id, life] of calls) {
    const record = await ledger.read(id);
    await eventually(
      async () => {
        const call = await reads.get(id);
        if (life === "withdrawn") return call === undefined;
        return call?.row.state === record?.entry.state && call?.row.revision === record?.revision;
      },
      { what: `call ${id}, which is ${life}`, every: 50 },
    );
  }
  return [...calls.values()].filter((life) => life !== "withdrawn").length;
}
