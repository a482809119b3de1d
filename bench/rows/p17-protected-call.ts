import type { BenchRow, Contest } from "../bench-row.ts";
import { makeCallerToken } from "../calls/guarded-function.ts";
import { cores, openGateway, openTinyFunction, weirUrl } from "../calls/open-call-contest.ts";
import { callsPerSecond, needWrk } from "../calls/wrk.ts";
import { p1Load } from "./p1-sync-call.ts";

/** P17: calls of a function that asks for a caller, by a token that was seen before, against one that asks for none. */
export const p17ProtectedCall: BenchRow = {
  id: "P17",
  what: "call of a protected function, 10 000 roles",
  peer: "the same function, open",
  unit: "calls/s",
  firstBar: 0.93,
  goal: 0.98,
  open: openContest,
};

async function openContest(): Promise<Contest> {
  const wrk = needWrk();
  await using opened = new AsyncDisposableStack();
  const caller = await makeCallerToken();
  opened.defer(() => caller.remove());
  const tiny = await openTinyFunction(cores.rest);
  opened.defer(() => tiny.close());
  const gateway = await openGateway(tiny.port, cores.measured, undefined, ["30000", caller.directory]);
  opened.defer(() => gateway.close());
  const url = weirUrl(gateway.port);
  const kept = opened.move();
  return {
    weir: () =>
      callsPerSecond(wrk, {
        ...p1Load,
        url: url.replace(/tiny$/, "guarded"),
        headers: [`Authorization: Bearer ${caller.token}`],
      }),
    peer: () => callsPerSecond(wrk, { ...p1Load, url }),
    close: () => kept.disposeAsync(),
  };
}
