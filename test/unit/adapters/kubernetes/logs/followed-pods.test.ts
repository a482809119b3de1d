import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { FollowedPods } from "../../../../../runtime/adapters/kubernetes/logs/followed-pods.ts";

const second = 1_000;

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const startedAt = (at: number) => ({ startedAt: at, endedAt: undefined });

function followed(pods: FollowedPods, ...keys: readonly string[]): string {
  return keys.filter((key) => pods.find(key)?.isFollowed === true).join("");
}

test("all are followed while there is room, at once", () => {
  const pods = new FollowedPods(2);
  pods.set("a", startedAt(0));
  pods.set("b", startedAt(1));
  pods.set("c", startedAt(2));
  expect(followed(pods, "a", "b", "c")).toBe("ab");
  expect(vi.getTimerCount()).toBe(1);
  pods.close();
  expect(vi.getTimerCount()).toBe(0);
});

test("the newest displace others that are a minute older, and those are told", () => {
  const pods = new FollowedPods(2);
  pods.set("a", startedAt(0));
  pods.set("b", startedAt(100 * second));
  const over = pods.find("a")?.over.signal;
  pods.set("c", startedAt(59 * second));
  vi.runAllTimers();
  expect([followed(pods, "a", "b", "c"), over?.aborted]).toEqual(["ab", false]);
  pods.set("c", startedAt(61 * second));
  vi.runAllTimers();
  expect([followed(pods, "a", "b", "c"), over?.aborted]).toEqual(["bc", true]);
  expect(pods.find("a")?.over.signal.aborted).toBe(false);
});

test("a call counts as a start, and an older one changes nothing", () => {
  const pods = new FollowedPods(1);
  pods.set("a", startedAt(0));
  pods.set("b", startedAt(10 * second));
  pods.called("b", 100 * second);
  pods.called("b", 20 * second);
  pods.called("gone", 200 * second);
  vi.runAllTimers();
  expect(followed(pods, "a", "b")).toBe("b");
});

test("what is gone makes room for the next", () => {
  const pods = new FollowedPods(1);
  pods.set("a", startedAt(0));
  pods.set("b", startedAt(0));
  const ofA = pods.find("a")?.over.signal;
  const ofB = pods.find("b")?.over.signal;
  pods.remove("a");
  expect([pods.find("a"), ofA?.aborted]).toEqual([undefined, true]);
  vi.runAllTimers();
  expect([followed(pods, "b"), ofB?.aborted]).toEqual(["b", true]);
  pods.remove("a");
  pods.remove("b");
  pods.set("c", startedAt(0));
  expect(followed(pods, "c")).toBe("c");
});
