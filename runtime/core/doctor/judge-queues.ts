import { formatDuration } from "../../api/duration.ts";
import type { Finding } from "../../api/schemas/doctor-report.ts";
import { nearlyFull } from "../queues/store-limits.ts";
import type { ExaminedQueue } from "./doctor-facts.ts";

/** Whether every declared queue has a store, workers and room, and its calls do not grow old; then dead letters. */
export function judgeQueues(queues: readonly ExaminedQueue[] | undefined, callMaxAge: number): readonly Finding[] {
  if (queues === undefined)
    return [
      {
        id: "queues",
        level: "problem",
        subject: "queues",
        sentence: "No declarations are known: the broker is away, or the queue-doctor has not declared its queues yet",
        advice: "look at the log of the queue-doctor",
      },
    ];
  return [...queues.flatMap((each) => queueFindings(each, callMaxAge)), ...deadLetters(queues)];
}

function queueFindings({ queue, figures }: ExaminedQueue, callMaxAge: number): readonly Finding[] {
  const { name } = queue;
  const finding = (level: Finding["level"], sentence: string, advice?: string): Finding => ({
    id: "queues",
    level,
    subject: `queue "${name}"`,
    sentence,
    ...(advice === undefined ? {} : { advice }),
  });
  if ("missing" in figures)
    return [finding("warning", `What is in it is not known (${figures.missing})`, "look at the broker first")];
  const { state, workers } = figures.value;
  if (state === undefined)
    return [
      finding(
        "problem",
        "Its store is gone from the broker, and its calls with it",
        `look at the log of the queue-doctor, which recreates it with --recreate ${name}`,
      ),
    ];
  const calls = state.fresh + state.onLoan;
  const found: Finding[] = [];
  const waiting = calls === 1 ? "1 call waits" : `${calls} calls wait`;
  if (workers.slots === 0)
    found.push(
      finding(
        calls > 0 ? "problem" : "warning",
        calls > 0 ? `No queue-worker takes from it, and ${waiting}` : "No queue-worker takes from it",
        `start one with queue=${name}, or look why it ended`,
      ),
    );
  const age = state.now - (state.firstAt ?? state.now);
  if (age > callMaxAge / 2)
    found.push(
      finding(
        "problem",
        `Its oldest call is ${formatDuration(age - (age % 1_000))} old; calls that have not begun are given up after call_max_age ${formatDuration(callMaxAge)}`,
        `look at weir queues show ${name}`,
      ),
    );
  if (calls >= queue.maxLength * nearlyFull)
    found.push(
      finding(
        calls >= queue.maxLength ? "problem" : "warning",
        `It holds ${calls} of at most ${queue.maxLength} calls`,
        `look at weir queues show ${name}`,
      ),
    );
  if (found.length > 0) return found;
  const inIt = calls === 0 ? "It is empty" : `It holds ${calls} ${calls === 1 ? "call" : "calls"}`;
  return [
    finding("ok", `${inIt}, and ${workers.slots === 1 ? "1 slot takes" : `${workers.slots} slots take`} from it`),
  ];
}

function deadLetters(queues: readonly ExaminedQueue[]): readonly Finding[] {
  const known = queues.flatMap(({ queue, figures }) =>
    "value" in figures ? [{ name: queue.name, count: figures.value.deadLetters }] : [],
  );
  const found = known.flatMap(({ name, count }): Finding[] =>
    count === 0
      ? []
      : [
          {
            id: "dead-letters",
            level: "warning",
            subject: `queue "${name}"`,
            sentence: `${count === 1 ? "1 call or callback was" : `${count} calls or callbacks were`} given up; dead letters are kept for 14 days`,
            advice: `redrive or delete them: weir dead-letters list --queue ${name}`,
          },
        ],
  );
  if (found.length > 0 || known.length < queues.length) return found;
  return [{ id: "dead-letters", level: "ok", subject: "dead letters", sentence: "There is none" }];
}
