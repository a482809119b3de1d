import { formatDuration } from "../../../runtime/api/duration.ts";
import { queueSettings } from "../../../runtime/settings/platform-settings.ts";
import { readSettings } from "../../../runtime/settings/read-settings.ts";
import { floorTtl } from "../../../runtime/core/calls/call-ttl.ts";
import type { MillionResult } from "./million.ts";

/** The report for a person. */
export function formatReport(result: MillionResult): string {
  const times = readSettings(queueSettings, {});
  const bound = times.maxCallRecords;
  const seconds = (milliseconds: number): string => `${(milliseconds / 1_000).toFixed(1)} s`;
  const kills = Object.entries(result.kills).map(([name, often]) => `${often} × ${name}`);
  const memory = Object.entries(result.mostMemory).map(
    ([name, bytes]) => `${name} ${Math.round(bytes / 1_048_576)} MiB`,
  );
  const rate = (result.accepted / result.sending) * 1_000;
  return [
    `${result.ended}: ${result.accepted} of ${result.wanted} calls accepted in ${seconds(result.sending)}, ${rate.toFixed(0)} calls/s, seed ${result.seed}`,
    `  answers: accepted ${result.accepted}, refused ${result.refused}, unknown ${result.unknown}; calls with an unknown answer that ran: ${result.unknownThatRan}`,
    `  runs ${result.runs}, extra runs ${result.extraRuns}, at most ${result.extraRunsAllowed} in flight at kills`,
    `  kills: ${kills.length === 0 ? "none" : kills.join(", ")}`,
    `  longest time without a 202 ${seconds(result.gapOfAccepting)}, without the start of a run ${seconds(result.gapOfRunning)}`,
    `  ${result.statusReads} reads of statuses; the last end was read ${seconds(result.settling)} after the last call was sent`,
    `  history: ${result.listed} calls in ${result.historyPages} pages of GET /system/calls; level ${seconds(result.historyLag)} after the last end was read`,
    `  records: bound ${bound}, kept for ${formatDuration(times.callRecordTtl)}, above a quarter of it for ${formatDuration(floorTtl(times))}; most at a time ${Math.round(result.mostRecords * bound)}`,
    `  most memory: ${memory.join(", ")}`,
    ...(result.violations.length === 0
      ? ["  0 lost, 0 extra runs beyond those in flight at kills; all invariants hold"]
      : ["  violations:", ...result.violations.map((violation) => `    ${violation}`)]),
  ].join("\n");
}
