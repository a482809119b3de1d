import type { BenchRow } from "../bench-row.ts";
import { openBenchEngine } from "../cold/container-engine.ts";
import { openByHand } from "../cold/container-by-hand.ts";
import { openByWeir } from "../cold/container-by-weir.ts";
import { formatPieces, type Pieces } from "../cold/container-pieces.ts";
import { say } from "../tools.ts";

const minute = 60_000;

/**
 * The start of one container by the adapter until the platform knows that it is ready, against `docker run` by hand.
 * Starts its own engine unless `DOCKER_HOST` names one. Reports the time of each phase at the end.
 */
export const containerStart: BenchRow = {
  id: "container-start",
  what: "a container started, from the order to its readiness",
  peer: "docker run by hand: same image, program and kind of network",
  unit: "starts/min",
  firstBar: 0.67,
  goal: 0.87,
  open: async () => {
    const opened = new AsyncDisposableStack();
    const close = (): Promise<void> => opened.disposeAsync();
    try {
      const engine = await openBenchEngine();
      opened.defer(() => engine.close());
      const weir = await openByWeir(engine);
      opened.defer(() => weir.close());
      const hand = await openByHand(engine);
      opened.defer(() => hand.close());
      const measured: { readonly weir: Pieces[]; readonly hand: Pieces[] } = { weir: [], hand: [] };
      const measure = async (into: Pieces[], start: () => Promise<Pieces>): Promise<number> => {
        const pieces = await start();
        into.push(pieces);
        return minute / pieces.whole;
      };
      return {
        weir: () => measure(measured.weir, () => weir.start()),
        peer: () => measure(measured.hand, () => hand.start()),
        close: async () => {
          // The first start of each side is a warm-up.
          say(formatPieces({ Weir: measured.weir.slice(1), [hand.name]: measured.hand.slice(1) }));
          await close();
        },
      };
    } catch (err) {
      await close();
      throw err;
    }
  },
};
