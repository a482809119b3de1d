/** An event of a trace of Chromium; times are microseconds. */
export interface TraceEvent {
  readonly name: string;
  /** `X` has a length, `M` says something of a process or thread. */
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  readonly ts: number;
  readonly dur?: number;
  /** Of its length, for how long its thread ran on a processor. */
  readonly tdur?: number;
  readonly args?: {
    /** Of a thread's name. */
    readonly name?: string;
    readonly data?: { readonly frames?: readonly { readonly url: string; readonly processId?: number }[] };
  };
}

/** How long tasks of a thread were, milliseconds. */
export interface TaskTimes {
  /** For each frame that was made: its tasks. */
  readonly frames: readonly number[];
  readonly longestTask: number;
}

/** What the main thread of a page did during a trace. */
export interface FrameWork {
  /** By the processor time of the thread: its work, however busy the machine is. */
  readonly ran: TaskTimes;
  /** By the clock. */
  readonly took: TaskTimes;
  /** From the end of a frame to the end of the next one, milliseconds. */
  readonly gaps: readonly number[];
  /** From the begin of the first task to the end of the last one, milliseconds. */
  readonly length: number;
}

const taskName = "RunTask";
/** The step that hands a frame on. Earlier ones also run without a frame, e.g. where a hit test wants the layout. */
const handedOn = "Commit";

/** From one frame to the next where nothing is late. */
const interval = 1_000 / 60;

/**
 * The work of the page that a trace was taken of. To a frame belong the task that made it, and those between the frame
 * before and it that ended at most 1/60 s before that task: had they been longer, it would have been late.
 * @throws Error when the trace does not say which thread was the page's, or has no frame of it
 */
export function frameWorkOf(events: readonly TraceEvent[]): FrameWork {
  const { pid, tid } = mainThread(events);
  const ofThread = events.filter((event) => event.pid === pid && event.tid === tid).toSorted((a, b) => a.ts - b.ts);
  const steps = ofThread.filter(({ name }) => name === handedOn).map(({ ts }) => ts / 1_000);
  const tasks = outermost(ofThread.filter(({ name, ph }) => name === taskName && ph === "X"));
  const [ran, took, ends]: [number[], number[], number[]] = [[], [], []];
  let [since, step] = [0, 0];
  for (const [index, { from, to }] of tasks.entries()) {
    while ((steps[step] ?? Number.POSITIVE_INFINITY) < from) step += 1;
    if ((steps[step] ?? Number.POSITIVE_INFINITY) >= to) continue;
    const ofFrame = tasks.slice(since, index + 1).filter((task) => task.to >= from - interval);
    ran.push(ofFrame.reduce((sum, task) => sum + task.ran, 0));
    took.push(ofFrame.reduce((sum, task) => sum + task.to - task.from, 0));
    ends.push(to);
    since = index + 1;
  }
  if (ends.length === 0) throw new Error(`Cannot judge frames: the trace has ${tasks.length} tasks and no frame`);
  return {
    ran: { frames: ran, longestTask: longest(tasks.map((task) => task.ran)) },
    took: { frames: took, longestTask: longest(tasks.map(({ from, to }) => to - from)) },
    gaps: ends.slice(1).map((end, index) => end - (ends[index] ?? end)),
    length: (tasks.at(-1)?.to ?? 0) - (tasks[0]?.from ?? 0),
  };
}

/** A trace may have more tasks than a call can have arguments. */
function longest(times: readonly number[]): number {
  return times.reduce((most, time) => Math.max(most, time), 0);
}

/** A task; all times are milliseconds. */
interface TaskSpan {
  readonly from: number;
  readonly to: number;
  readonly ran: number;
}

/** A task that runs within another one is part of it. */
function outermost(events: readonly TraceEvent[]): readonly TaskSpan[] {
  const spans: TaskSpan[] = [];
  for (const { ts, dur = 0, tdur = dur } of events) {
    const from = ts / 1_000;
    if (from >= (spans.at(-1)?.to ?? 0)) spans.push({ from, to: (ts + dur) / 1_000, ran: tdur / 1_000 });
  }
  return spans;
}

function mainThread(events: readonly TraceEvent[]): Pick<TraceEvent, "pid" | "tid"> {
  const frames = events.flatMap(({ name, args }) =>
    name === "TracingStartedInBrowser" ? (args?.data?.frames ?? []) : [],
  );
  const pid = frames.find(({ url }) => url.startsWith("http"))?.processId;
  const thread = events.find(
    (event) => event.name === "thread_name" && event.args?.name === "CrRendererMain" && event.pid === pid,
  );
  if (thread === undefined) throw new Error("Cannot judge frames: the trace does not name the thread of the page");
  return thread;
}
