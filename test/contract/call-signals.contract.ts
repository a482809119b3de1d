import { randomUUID } from "node:crypto";

import { expect, test } from "vitest";

import type { CallSignals } from "../../runtime/core/ports/call-signals.ts";
import { eventually } from "../support/eventually.ts";

export interface OpenCallSignals {
  /** The ends of two processes for the same signals. */
  readonly here: CallSignals;
  readonly there: CallSignals;
  close(): Promise<void>;
}

/** What every `CallSignals` must do. */
export function callSignalsContract(open: () => Promise<OpenCallSignals>): void {
  test("signals of cancelled and of ended calls reach those who listen for them, and no others", async () => {
    const { here, there, close } = await open();
    const received: string[] = [];
    const ends = [
      there.onCancelled((id) => received.push(`cancelled ${id}`)),
      there.onEnded((id) => received.push(`ended ${id}`)),
      here.onEnded((id) => received.push(`ended here ${id}`)),
    ];
    const [first, second] = [randomUUID(), randomUUID()];
    // A signal sent before others listen is lost: repeat it until it arrives.
    await eventually(
      () => {
        here.cancelled(first);
        here.ended(second);
        return received.length >= 3;
      },
      { every: 50, what: "the signals" },
    );
    expect(new Set(received)).toEqual(new Set([`cancelled ${first}`, `ended ${second}`, `ended here ${second}`]));
    for (const end of ends) end();
    await close();
  });

  test("an ended listener receives nothing more", async () => {
    const { here, there, close } = await open();
    const gone: string[] = [];
    const received: string[] = [];
    const end = there.onCancelled((id) => gone.push(id));
    const endOther = there.onCancelled((id) => received.push(id));
    end();
    const id = randomUUID();
    await eventually(
      () => {
        here.cancelled(id);
        return received.length > 0;
      },
      { every: 50, what: "the signal" },
    );
    expect(gone).toEqual([]);
    endOther();
    await close();
  });
}
