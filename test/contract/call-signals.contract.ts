import { randomUUID } from "node:crypto";

import { expect, test } from "vitest";

import type { CallSignals } from "../../runtime/core/ports/call-signals.ts";
import { eventually } from "../support/eventually.ts";

export interface OpenCallSignals {
  /** Two processes' ends of the same signals. */
  readonly here: CallSignals;
  readonly there: CallSignals;
  close(): Promise<void>;
}

/** What every `CallSignals` must do. */
export function callSignalsContract(open: () => Promise<OpenCallSignals>): void {
  test("word of a cancelled and of an ended call reaches those who listen for it, and not the others", async () => {
    const { here, there, close } = await open();
    const heard: string[] = [];
    const ends = [
      there.onCancelled((id) => heard.push(`cancelled ${id}`)),
      there.onEnded((id) => heard.push(`ended ${id}`)),
      here.onEnded((id) => heard.push(`ended here ${id}`)),
    ];
    const [first, second] = [randomUUID(), randomUUID()];
    // Word that is given before others have begun to listen is lost: give it until it is heard.
    await eventually(
      () => {
        here.cancelled(first);
        here.ended(second);
        return heard.length >= 3;
      },
      { every: 50, what: "the signals" },
    );
    expect(new Set(heard)).toEqual(new Set([`cancelled ${first}`, `ended ${second}`, `ended here ${second}`]));
    for (const end of ends) end();
    await close();
  });

  test("who has ended listening hears nothing more", async () => {
    const { here, there, close } = await open();
    const gone: string[] = [];
    const heard: string[] = [];
    const end = there.onCancelled((id) => gone.push(id));
    const endOther = there.onCancelled((id) => heard.push(id));
    end();
    const id = randomUUID();
    await eventually(
      () => {
        here.cancelled(id);
        return heard.length > 0;
      },
      { every: 50, what: "the signal" },
    );
    expect(gone).toEqual([]);
    endOther();
    await close();
  });
}
