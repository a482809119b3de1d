import { expect, test } from "vitest";

import { formatRef, type FunctionRef } from "../../runtime/core/functions/function-ref.ts";
import type { LoggedFunctions } from "../../runtime/core/ports/logged-functions.ts";

/** Logged functions without any, and how replicas come and go. */
export interface OpenLoggedFunctions {
  readonly functions: LoggedFunctions;
  /** Resolves when the replica runs and can be seen. */
  start(ref: FunctionRef, replica: string): Promise<void>;
  /** Resolves when nothing of the replica is left. */
  end(ref: FunctionRef, replica: string): Promise<void>;
  close(): Promise<void>;
}

const hello = { namespace: "functions", name: "hello" };
const pay = { namespace: "functions-2", name: "pay" };

/** What every `LoggedFunctions` promises. */
export function loggedFunctionsContract(open: () => Promise<OpenLoggedFunctions>): void {
  test("functions are active with the number of their replicas, until the last one is gone", async () => {
    const { functions, start, end, close } = await open();
    const running = async (): Promise<string[]> =>
      (await functions.active())
        .filter(({ replicas }) => replicas > 0)
        .map((each) => `${formatRef(each)} ${each.replicas}`)
        .sort();
    try {
      expect(await functions.active()).toEqual([]);
      await start(hello, "hello-a");
      await start(pay, "pay-a");
      await start(hello, "hello-b");
      expect(await running()).toEqual(["hello.functions 2", "pay.functions-2 1"]);
      await end(hello, "hello-a");
      await end(pay, "pay-a");
      expect(await running()).toEqual(["hello.functions 1"]);
    } finally {
      await close();
    }
  });
}
