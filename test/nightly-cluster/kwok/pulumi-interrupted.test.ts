import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { pretendedStacks } from "../../support/pretended-stacks.ts";
import { deploymentsOf } from "../../support/stack-deployments.ts";
import { expectNothingLeft, openWeirStack, type WeirStack } from "../../support/weir-stack.ts";

const { isThere, cluster } = pretendedStacks("The tests of an interrupted Pulumi");

const steps = 600_000;

describe.skipIf(!isThere)("an up that does not complete", () => {
  let stack: WeirStack;
  /** More processors than any node has: pods that request them never start. */
  const tooMany = "999";
  const requested = (kind: string, name: string): Promise<string> => {
    const path = "{.spec.template.spec.containers[0].resources.requests.cpu}";
    return stack.kubectl("get", kind, name, `--output=jsonpath=${path}`);
  };

  beforeAll(async () => {
    stack = await openWeirStack(cluster(), "community");
    await stack.expect("up");
  }, steps);
  afterAll(() => stack?.close());

  test(
    "fails soon when pods do not start, and up --refresh recovers",
    async () => {
      const before = await requested("deployment", "operator");
      await stack.configure({ "weir:cpu": { operator: tooMany }, "weir:timeouts": { deployments: "5s" } });
      const { code, output } = await stack.run("up");
      expect(code).not.toBe(0);
      // The provider considered the Deployment ready; the cluster says that it is not.
      expect(output).toMatch(/Cannot continue after Deployment "operator" in ".*": .* after 5 s/);
      expect(await requested("deployment", "operator")).toBe(tooMany);

      await stack.configure({ "weir:cpu": undefined, "weir:timeouts": undefined });
      await stack.expect("up", "--refresh");
      expect(await requested("deployment", "operator")).toBe(before);
      expect((await deploymentsOf(stack)).filter(({ ready, wanted }) => ready !== wanted)).toEqual([]);
      expect((await stack.expect("up")).changes).toEqual([]);
    },
    steps,
  );

  test(
    "leaves a wrong state when it is killed, and up --refresh recovers",
    async () => {
      const before = await requested("statefulset", "nats");
      await stack.configure({ "weir:cpu": { nats: tooMany }, "weir:images": { nats: "weir-nats:wrong" } });
      const isWritten = async () => (await requested("statefulset", "nats")) === tooMany;
      await stack.kill("up", { when: isWritten, within: steps });
      await stack.configure({ "weir:cpu": undefined, "weir:images": undefined });
      // The state equals the configuration, so Pulumi has nothing to do; the cluster differs.
      const again = await stack.run("up");
      expect(again.code).not.toBe(0);
      expect(again.output).toMatch(
        /Cannot continue after StatefulSet "nats" .*"weir-nats:wrong" instead of .*up --refresh/,
      );
      expect(await requested("statefulset", "nats")).toBe(tooMany);

      await stack.expect("up", "--refresh");
      expect(await requested("statefulset", "nats")).toBe(before);
      await stack.expect("refresh", "--expect-no-changes");
      await expectNothingLeft(stack);
    },
    steps,
  );
});
