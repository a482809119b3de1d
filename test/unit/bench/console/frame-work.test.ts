import { describe, expect, test } from "vitest";

import { frameWorkOf, type TraceEvent } from "../../../../bench/console/frame-work.ts";

const [pid, tid] = [7, 1];
const millisecond = 1_000;

/** What a trace says of its page. */
const begun: readonly TraceEvent[] = [
  {
    name: "TracingStartedInBrowser",
    ph: "I",
    pid: 1,
    tid: 1,
    ts: 0,
    args: { data: { frames: [{ url: "http://127.0.0.1:1/ui/", processId: pid }] } },
  },
  { name: "thread_name", ph: "M", pid: 8, tid: 1, ts: 0, args: { name: "CrRendererMain" } },
  { name: "thread_name", ph: "M", pid, tid: 2, ts: 0, args: { name: "Compositor" } },
  { name: "thread_name", ph: "M", pid, tid, ts: 0, args: { name: "CrRendererMain" } },
];

/** A task by its begin and length in milliseconds, of which it ran half; with `step` it makes a frame. */
function task(from: number, length: number, step?: string): readonly TraceEvent[] {
  const at = { pid, tid, ts: from * millisecond };
  return [
    { ...at, name: "RunTask", ph: "X", dur: length * millisecond, tdur: (length * millisecond) / 2 },
    ...(step === undefined ? [] : [{ ...at, name: step, ph: "X", ts: at.ts + 1, dur: 1 }]),
  ];
}

describe("the work of frames", () => {
  test("is that of the tasks since the frame before", () => {
    const work = frameWorkOf([
      ...begun,
      ...task(10, 2, "Commit"),
      ...task(20, 3),
      ...task(24, 1),
      ...task(26, 4, "Commit"),
    ]);
    expect(work).toEqual({
      ran: { frames: [1, 4], longestTask: 2 },
      took: { frames: [2, 8], longestTask: 4 },
      gaps: [18],
      length: 20,
    });
  });
  test("does not have what ran so long before that it could not make the frame late", () => {
    const { took } = frameWorkOf([...begun, ...task(10, 2), ...task(25, 1), ...task(30, 4, "Commit")]);
    expect(took).toEqual({ frames: [5], longestTask: 4 });
  });
  test("is counted once for each frame, whichever steps it has", () => {
    const steps = ["UpdateLayerTree", "PrePaint", "Layerize", "Commit"];
    const first = steps.flatMap((step, index) => task(1, 5, step).slice(index === 0 ? 0 : 1));
    expect(frameWorkOf([...begun, ...first, ...task(20, 5, "Commit")]).took.frames).toEqual([5, 5]);
  });
  test("has what was prepared without a frame, as a hit test does, in the frame that comes", () => {
    const { took } = frameWorkOf([...begun, ...task(10, 2, "PrePaint"), ...task(13, 4, "Commit")]);
    expect(took.frames).toEqual([6]);
  });
  test("has no task twice that runs within another one", () => {
    const { took } = frameWorkOf([...begun, ...task(10, 8, "Commit"), ...task(12, 3)]);
    expect(took).toEqual({ frames: [8], longestTask: 8 });
  });
  test("leaves out what comes after the last frame, but for the longest task", () => {
    const { took } = frameWorkOf([...begun, ...task(10, 2, "Commit"), ...task(20, 60)]);
    expect(took).toEqual({ frames: [2], longestTask: 60 });
  });
  test("is that of the thread of the page alone", () => {
    const elsewhere = [
      ...task(11, 9, "Commit").map((event) => ({ ...event, tid: 2 })),
      ...task(12, 9, "Commit").map((event) => ({ ...event, pid: 8 })),
    ];
    expect(frameWorkOf([...begun, ...task(10, 2, "Commit"), ...elsewhere]).took.frames).toEqual([2]);
  });
  test("is sorted by time, as events are written out of order", () => {
    const events = [...task(30, 1, "Commit"), ...task(10, 4), ...task(20, 2, "Commit")];
    expect(frameWorkOf([...begun, ...events]).took.frames).toEqual([6, 1]);
  });
  test("is by the clock where the trace does not say for how long a task ran", () => {
    const [event] = task(10, 2);
    const { tdur: _ran, ...bare } = event ?? { name: "", ph: "", pid, tid, ts: 0 };
    const { ran, took } = frameWorkOf([...begun, bare, { ...bare, name: "Commit", ts: bare.ts + 1, dur: 1 }]);
    expect(ran).toEqual(took);
  });
  test("is not known without the page's thread, or without a frame", () => {
    expect(() => frameWorkOf(task(10, 2, "Commit"))).toThrow("the trace does not name the thread of the page");
    expect(() => frameWorkOf([...begun, ...task(10, 2)])).toThrow("the trace has 1 tasks and no frame");
  });
});
