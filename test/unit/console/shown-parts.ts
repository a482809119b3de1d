import { options } from "preact";
import { afterEach, beforeEach, vi } from "vitest";

import { renderPart, type RenderedPart } from "./render-part.tsx";

/** Longer than parts wait for a frame, milliseconds. */
export const someFrames = 100;
/** Milliseconds. */
const oneFrame = 16;

/**
 * Makes what renders the parts of a file, each until the end of its test. `startsAt`: the tests pass the time themselves,
 * from that moment on, milliseconds since 1970.
 */
export function partRenderer(startsAt?: number): typeof renderPart {
  const shown: RenderedPart[] = [];
  if (startsAt !== undefined)
    beforeEach(() => {
      vi.useFakeTimers({ now: startsAt });
      // Signals take the timers that there are when they are imported: effects would run in real time.
      options.requestAnimationFrame = (callback) => void setTimeout(callback, oneFrame);
    });
  afterEach(async () => {
    for (const part of shown.splice(0)) part.close();
    if (startsAt === undefined) return;
    // Effects that wait for a frame would wait for ever, and later ones with them.
    await vi.advanceTimersByTimeAsync(someFrames);
    delete options.requestAnimationFrame;
    vi.useRealTimers();
  });
  return (...args) => {
    const part = renderPart(...args);
    shown.push(part);
    return part;
  };
}
