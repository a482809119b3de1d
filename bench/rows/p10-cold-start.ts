import { mkdtemp, mkdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { BenchRow } from "../bench-row.ts";
import { coldByHand } from "../cold/cold-by-hand.ts";
import { coldByWeir } from "../cold/cold-by-weir.ts";
import { formatColdStarts, wholeOf, type ColdStart } from "../cold/cold-pieces.ts";
import { spreadOf } from "../interleave.ts";
import { say } from "../tools.ts";

/** Starts per measurement, which is their median. */
const startsPerRound = 5;

/**
 * A call to a function scaled to zero until its reply, against a replica's process started by hand and called as soon
 * as it serves. Reports the time of each phase at the end.
 */
export const p10ColdStart: BenchRow = {
  id: "P10",
  what: "a call to a function at zero until its answer, functions as processes",
  peer: "the same process by hand: spawned, and asked as soon as it says that it serves",
  unit: "ms",
  lessIsBetter: true,
  firstBar: 1.5,
  goal: 1.15,
  open: async () => {
    const directory = await mkdtemp(join(tmpdir(), "weir-bench-cold-"));
    const place = { directory, compileCache: join(directory, "compile-cache") };
    const data = join(directory, "data");
    await mkdir(data);
    const remove = () => rm(directory, { recursive: true, force: true });
    const weir = await coldByWeir(data).catch(async (err: unknown) => {
      await remove();
      throw err;
    });
    const measured: { readonly weir: ColdStart[]; readonly hand: ColdStart[] } = { weir: [], hand: [] };
    const measure = async (into: ColdStart[], start: () => Promise<ColdStart>): Promise<number> => {
      const times: number[] = [];
      for (let round = 0; round < startsPerRound; round += 1) {
        const one = await start();
        into.push(one);
        times.push(wholeOf(one));
      }
      return spreadOf(times).median;
    };
    return {
      weir: () => measure(measured.weir, () => weir.start()),
      peer: () => measure(measured.hand, () => coldByHand(place)),
      close: async () => {
        // The first measurement of each side is a warm-up.
        const [byWeir, byHand] = [measured.weir, measured.hand].map((starts) => starts.slice(startsPerRound));
        say(formatColdStarts({ Weir: byWeir ?? [], "by hand": byHand ?? [] }));
        await weir.close();
        await remove();
      },
    };
  },
};
