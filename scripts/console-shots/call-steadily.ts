import type { PlatformCalls } from "../../test/support/platform-calls.ts";
import type { ShopFunction } from "./shop-functions.ts";

/** Calls functions at their rates until it is disposed of, so that lists show what they do now. */
export function callSteadily(calls: PlatformCalls, functions: readonly ShopFunction[]): AsyncDisposable {
  const open = new Set<Promise<unknown>>();
  let order = 2_000;
  const call = (name: string): void => {
    const body = JSON.stringify({ order: (order += 1), to: "ada@example.com" });
    // A call that fails is one that the pictures show.
    const sent = calls.send("POST", `/function/${name}/orders`, { body }).catch(() => {});
    open.add(sent);
    void sent.then(() => open.delete(sent));
  };
  const timers = functions
    .filter(({ rate }) => rate >= 1)
    .map(({ name, rate }) => setInterval(() => call(name), 1_000 / rate));
  return {
    async [Symbol.asyncDispose]() {
      timers.forEach(clearInterval);
      await Promise.all(open);
    },
  };
}
