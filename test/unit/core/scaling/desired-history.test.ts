import fc from "fast-check";
import { expect, test } from "vitest";

import { DesiredHistory } from "../../../../runtime/core/scaling/desired-history.ts";

test("gives the highest count within the window, once the whole window was seen", () => {
  const notes = fc.array(fc.record({ desired: fc.nat(20), after: fc.nat(3_000) }), { minLength: 1, maxLength: 60 });
  fc.assert(
    fc.property(notes, fc.nat(20_000), (given, window) => {
      const history = new DesiredHistory();
      const all: { at: number; desired: number }[] = [];
      let now = 0;
      for (const { desired, after } of given) {
        now += after;
        all.push({ at: now, desired });
        history.note(desired, now, window);
        const recent = all.filter(({ at }) => at >= now - window);
        const complete = now - (all[0]?.at ?? 0) >= window;
        const highest = Math.max(...recent.map((note) => note.desired));
        expect(history.highest(now, window)).toBe(complete ? highest : undefined);
      }
    }),
  );
});

test("after clear() nothing is known until a whole window was seen again", () => {
  const history = new DesiredHistory();
  history.note(5, 0, 1_000);
  history.clear();
  history.note(2, 2_000, 1_000);
  expect(history.highest(2_999, 1_000)).toBeUndefined();
  expect(history.highest(3_000, 1_000)).toBe(2);
});
