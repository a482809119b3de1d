import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { applyDefinitions } from "../../support/apply-definitions.ts";
import { openPulumiStack, type PulumiRun, type PulumiStack } from "../../support/engine-stack.ts";
import { eventually } from "../../support/eventually.ts";
import { pretendedStacks } from "../../support/pretended-stacks.ts";

const { isThere, cluster } = pretendedStacks("The tests of functions of a Pulumi program");
const program = join(import.meta.dirname, "..", "..", "support", "pulumi", "function");
const step = 120_000;

describe.skipIf(!isThere)("a function of a Pulumi program", () => {
  let stack: PulumiStack;

  beforeAll(async () => {
    await applyDefinitions(cluster());
    stack = await openPulumiStack(program);
    const { kubeconfig, namespace } = cluster();
    await stack.configure({ "function:kubeconfig": kubeconfig, "function:namespace": namespace });
  }, step);
  afterAll(() => stack?.close());

  /** Runs `pulumi up` for an image, and reports these conditions of it in the place of an operator. */
  async function up(image: string, conditions: Readonly<Record<string, string>>): Promise<PulumiRun> {
    await stack.configure({ "function:image": image });
    const running = stack.run("up");
    await eventually(async () => (await live("{.spec.image}")) === image, { within: step, what: image, every: 250 });
    const lastTransitionTime = new Date().toISOString();
    const stated = Object.entries(conditions).map(([type, said]) => {
      const [status, reason, message = "x"] = said.split("|");
      return { type, status, reason, message, lastTransitionTime };
    });
    const observedGeneration = Number(await live("{.metadata.generation}"));
    const status = JSON.stringify({ status: { observedGeneration, conditions: stated } });
    await cluster().kubectl(["patch", "fn", "hello", "--subresource=status", "--type=merge", `--patch=${status}`]);
    return running;
  }

  const live = (path: string): Promise<string> =>
    cluster().kubectl(["get", "fn", "hello", "--ignore-not-found", `--output=jsonpath=${path}`]);

  const ready = { Ready: "True|ReplicasReady", Stalled: "False|Progressing" };

  test(
    "is up when its change is out, and not before: replicas of the deployment before serve in the meantime",
    async () => {
      expect((await up("hello:1", { ...ready, Reconciling: "False|Settled" })).code).toBe(0);
      expect(await stack.outputs()).toEqual({ path: `/function/hello.${cluster().namespace}` });

      const began = performance.now();
      const stalled = 'True|ImagePullBackOff|Cannot pull image "hello:2": not found';
      const { code, output } = await up("hello:2", { ...ready, Reconciling: "True|BackingOff", Stalled: stalled });
      expect(code).not.toBe(0);
      expect(output).toContain(`Cannot continue after Function "hello"`);
      expect(output).toContain('Cannot pull image "hello:2": not found');
      expect(performance.now() - began).toBeLessThan(80_000);
    },
    step,
  );
});
