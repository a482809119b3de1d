import { environment } from "../../runtime/process/settings.ts";
import { givenCluster } from "../../test/support/cluster-setup.ts";
import { alignColumns } from "../align-columns.ts";
import { BenchSkipped, type BenchRow } from "../bench-row.ts";
import { openClusterCold } from "../cold/cluster-cold.ts";
import { spreadOf } from "../interleave.ts";
import { say } from "../tools.ts";

/** Starts per measurement, which is their median; each takes seconds. */
const startsPerRound = 1;

/**
 * A call to a function scaled to zero in a cluster until its reply, against the same pod by hand: `kubectl scale`, then
 * requests through its Service until one succeeds. Runs on the cluster that `KUBECONFIG` names; `WEIR_TEST_CLUSTER_DIR`
 * is its directory, which loading images needs.
 */
export const p11ClusterColdStart: BenchRow = {
  id: "P11",
  what: "a call to a function at zero until its answer, in a cluster, image present",
  peer: "kubectl scale by hand until the same pod answers through its Service",
  unit: "ms",
  lessIsBetter: true,
  firstBar: 1.2,
  goal: 0.9,
  open: async () => {
    const given = givenCluster({ ...environment(), WEIR_TEST_CLUSTER: "existing" });
    if ("missing" in given) throw new BenchSkipped("KUBECONFIG names no cluster (npm run cluster -- up makes one)");
    if (given.directory === undefined)
      throw new BenchSkipped("WEIR_TEST_CLUSTER_DIR does not say where the cluster lives: images cannot come into it");
    const cold = await openClusterCold(given);
    const measured: { readonly weir: number[]; readonly hand: number[] } = { weir: [], hand: [] };
    const measure = async (into: number[], start: () => Promise<number>): Promise<number> => {
      const times: number[] = [];
      for (let round = 0; round < startsPerRound; round += 1) times.push(await start());
      into.push(...times);
      return spreadOf(times).median;
    };
    return {
      weir: () => measure(measured.weir, () => cold.byWeir()),
      peer: () => measure(measured.hand, () => cold.byHand()),
      close: async () => {
        // The first measurement of each side is a warm-up.
        const lines = Object.entries(measured).map(([side, times]) => [side, ...cells(times.slice(startsPerRound))]);
        say(alignColumns([["milliseconds", "p50", "p95", "starts"], ...lines]));
        await cold.close();
      },
    };
  },
};

function cells(times: readonly number[]): string[] {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return [spreadOf(times).median.toFixed(0), at(0.95).toFixed(0), String(times.length)];
}
