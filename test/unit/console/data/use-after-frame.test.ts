import { expect, test } from "vitest";

import type { FrameRequests } from "../../../../runtime/console/data/look/frame-requests.ts";
import { afterFrame } from "../../../../runtime/console/data/look/use-after-frame.ts";

/** Frames that the test makes. */
function openFrames() {
  const asked = new Map<number, (begun: number) => void>();
  let handles = 0;
  const frames: FrameRequests = {
    request: (callback) => {
      asked.set(++handles, callback);
      return handles;
    },
    cancel: (handle) => void asked.delete(handle),
  };
  return { frames, asked, paint: () => asked.forEach((callback) => callback(0)) };
}
/** A task that comes after those which wait already. */
const later = (): Promise<void> => new Promise((resolve) => void setTimeout(resolve, 1));

test("what comes after a frame is no part of it", async () => {
  const { frames, paint } = openFrames();
  let acts = 0;
  afterFrame(() => acts++, frames);
  await later();
  expect(acts).toBe(0);

  paint();
  expect(acts).toBe(0);
  await later();

  expect(acts).toBe(1);
});

test("what is not wanted any more does not come, neither before the frame nor after it", async () => {
  const { frames, asked, paint } = openFrames();
  let acts = 0;
  afterFrame(() => acts++, frames)();
  expect(asked.size).toBe(0);
  const cancel = afterFrame(() => acts++, frames);
  paint();
  cancel();
  await later();

  expect(acts).toBe(0);
});
