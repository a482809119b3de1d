import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { PulumiStack } from "../../support/engine-stack.ts";
import { pretendedStacks } from "../../support/pretended-stacks.ts";
import { deploymentsOf } from "../../support/stack-deployments.ts";
import {
  answerForIngress,
  expectNothingLeft,
  openWeirStack,
  sampleConfiguration,
  type WeirStack,
} from "../../support/weir-stack.ts";

const { isThere, cluster } = pretendedStacks("The tests of the Pulumi program");

const steps = 600_000;
/** Deployments of edition pro and larger ones, without those of queues that a stack declares. */
const parts = ["autoscaler", "gateway", "history", "operator", "queue-doctor", "queue-worker"];
const pem = (what: string): string => `-----BEGIN ${what}-----\nx\n-----END ${what}-----\n`;

describe.skipIf(!isThere)("a stack of edition pro that becomes one of enterprise", () => {
  let stack: WeirStack;

  beforeAll(async () => {
    stack = await openWeirStack(cluster(), "pro");
  });
  afterAll(() => stack?.close());

  test(
    "preview changes nothing, up makes the previewed changes, and afterwards all is ready and nothing is left to do",
    async () => {
      const preview = await stack.expect("preview");
      await expect(stack.kubectl("get", "namespace", stack.namespace)).rejects.toThrow("not found");
      expect((await stack.expect("up")).changes).toEqual(preview.changes);
      expect(await readyOf(stack)).toEqual(parts);
      expect((await stack.expect("up")).changes).toEqual([]);
      await stack.expect("refresh", "--expect-no-changes");
      expect(await stack.outputs()).toMatchObject({ edition: "pro", queues: ["default"] });
    },
    steps,
  );

  test(
    "a secret in plain text is refused, an encrypted one accepted, also in a group",
    async () => {
      const [certificate, key] = [pem("CERTIFICATE"), pem("PRIVATE KEY")];
      await stack.configure({
        "weir:adminPassword": "correct-horse",
        "weir:natsTls": { certificate, authority: certificate, key },
      });
      const { code, output } = await stack.run("preview");
      expect(code).not.toBe(0);
      expect(output).toContain("pulumi config set --secret weir:adminPassword");
      expect(output).toContain("pulumi config set --secret --path weir:natsTls.key < tls.key");
      await stack.configureSecret("weir:adminPassword", "correct-horse");
      await stack.configureSecret("weir:natsTls.key", key);
      await stack.expect("preview");
      await stack.configure({ "weir:adminPassword": undefined, "weir:natsTls": undefined });
    },
    steps,
  );

  test(
    "a change to a larger edition, with all that its sample sets, creates its queues with their workers",
    async () => {
      await stack.configure(await sampleConfiguration("enterprise"));
      const { changes } = await stack.expect("up");
      expect(changes.filter((change) => change.startsWith("create Deployment"))).toEqual([
        "create Deployment weir-queue-workers-queue-worker-billing",
        "create Deployment weir-queue-workers-queue-worker-reports",
      ]);
      expect(changes.filter((change) => change.includes("replace"))).toEqual([]);
      expect(await readyOf(stack)).toEqual([...parts, "queue-worker-billing", "queue-worker-reports"]);
      expect((await stack.expect("up")).changes).toEqual([]);
      expect(await stack.outputs()).toMatchObject({ edition: "enterprise", queues: ["default", "billing", "reports"] });
    },
    steps,
  );

  test("no secret is in plain text in the state, and no resource uses a default provider", async () => {
    await expectNoPlainSecrets(stack);
    await expectOwnProviders(stack);
  });

  test(
    "a setting rolls only the processes that read it",
    async () => {
      await stack.configure({ "weir:upstreamTimeout": "90s" });
      // The broker and the autoscaler do not read it.
      expect((await stack.expect("up")).changes).toEqual([
        "update Deployment weir-gateway-gateway",
        "update Deployment weir-operator-operator",
        "update Deployment weir-queue-doctor-queue-doctor",
        "update Deployment weir-queue-workers-queue-worker",
        "update Deployment weir-queue-workers-queue-worker-billing",
        "update Deployment weir-queue-workers-queue-worker-reports",
      ]);
    },
    steps,
  );

  test(
    "a smaller edition is refused while settings exceed it; they are named, and nothing changes",
    async () => {
      const before = await deploymentsOf(stack);
      await stack.configure({ "weir:edition": "community" });
      for (const command of ["preview", "up"] as const) {
        const { code, output } = await stack.run(command);
        expect(code).not.toBe(0);
        expect(output).toMatch(/queues/);
        expect(output).toMatch(/maxInflight/);
      }
      expect(await deploymentsOf(stack)).toEqual(before);
    },
    steps,
  );

  test(
    "a change to a smaller edition deletes queues with their workers",
    async () => {
      await stack.configure({ "weir:edition": "pro", "weir:queues": undefined });
      const { changes } = await stack.expect("up");
      expect(changes.filter((change) => change.startsWith("delete Deployment"))).toEqual([
        "delete Deployment weir-queue-workers-queue-worker-billing",
        "delete Deployment weir-queue-workers-queue-worker-reports",
      ]);
      expect(changes.filter((change) => change.includes("replace"))).toEqual([]);
      expect(await stack.outputs()).toMatchObject({ edition: "pro", queues: ["default"] });
    },
    steps,
  );

  test(
    "a change by somebody else is drift, and a count that they set stays",
    async () => {
      const patch = JSON.stringify({ spec: { minReadySeconds: 1, revisionHistoryLimit: 3 } });
      await stack.kubectl("patch", "deployment", "gateway", `--patch=${patch}`, "--field-manager=somebody");
      await stack.kubectl("scale", "deployment", "gateway", "--replicas=5");
      expect((await stack.run("refresh", "--preview-only", "--expect-no-changes")).code).not.toBe(0);
      await stack.configure({ "weir:gateway": { replicas: 4 }, "weir:upstreamTimeout": "91s" });
      const { output } = await stack.expect("up");
      expect(output).toContain('keeps 5 replicas, which "kubectl" set');
      const counts = "--output=jsonpath={.spec.replicas} {.spec.minReadySeconds}";
      expect(await stack.kubectl("get", "deployment", "gateway", counts)).toBe("5 1");
    },
    steps,
  );

  test(
    "another field that somebody set stops before anything is changed, unless it is taken over",
    async () => {
      const generations = "--output=jsonpath={.items[*].metadata.generation}";
      const patch = JSON.stringify({ spec: { revisionHistoryLimit: 7 } });
      await stack.kubectl("patch", "deployment", "autoscaler", `--patch=${patch}`, "--field-manager=somebody");
      const before = await stack.kubectl("get", "deployments", generations);
      await stack.configure({ "weir:upstreamTimeout": "92s" });
      const { code, output } = await stack.run("up");
      expect(code).not.toBe(0);
      expect(output).toContain('conflict with "somebody", who set spec.revisionHistoryLimit to 7');
      expect(await stack.kubectl("get", "deployments", generations)).toBe(before);

      await stack.configure({ "weir:forceConflicts": true });
      // Pulumi itself sees no change of that object without reading the cluster.
      await stack.expect("up", "--refresh");
      const history = "--output=jsonpath={.spec.revisionHistoryLimit}";
      expect(await stack.kubectl("get", "deployment", "autoscaler", history)).toBe("3");
      expect(await stack.kubectl("get", "deployment", "gateway", "--output=jsonpath={.spec.replicas}")).toBe("4");
      await stack.configure({ "weir:forceConflicts": undefined });
    },
    steps,
  );

  test(
    "an autoscaler of gateways counts them, and what it decided stays",
    async () => {
      const gateway = { replicas: { min: 2, max: 6 } };
      await stack.configure({ "weir:gateway": gateway });
      await stack.expect("up");
      const count = () => stack.kubectl("get", "deployment", "gateway", "--output=jsonpath={.spec.replicas}");
      expect(await count()).toBe("4");
      const spec = "--output=jsonpath={.spec.minReplicas} {.spec.maxReplicas}";
      expect(await stack.kubectl("get", "hpa", "gateway", spec)).toBe("2 6");
      // As the autoscaler does.
      await stack.kubectl("scale", "deployment", "gateway", "--replicas=6");
      await stack.configure({ "weir:upstreamTimeout": "93s" });
      await stack.expect("up");
      expect(await count()).toBe("6");
    },
    steps,
  );

  test(
    "destroy leaves the definitions of custom resources, as promised, and nothing else",
    () => expectNothingLeft(stack),
    steps,
  );
});

// They share only the cluster, and mostly wait.
describe.skipIf(!isThere).concurrent("stacks of the smaller editions", () => {
  test.each(["community", "standard"])(
    "%s: up, destroy",
    async (edition) => {
      await using stack = await openWeirStack(cluster(), edition);
      const ingress = edition === "standard" ? answerForIngress(stack, steps) : undefined;
      await stack.expect("up");
      await ingress;
      await readyOf(stack);
      expect(await stack.outputs()).toMatchObject({ edition, queues: ["default"] });
      await expectNoPlainSecrets(stack);
      await expectOwnProviders(stack);
      await expectNothingLeft(stack);
    },
    steps,
  );
});

/** Names of the Deployments, all of whose replicas are ready. */
async function readyOf(stack: WeirStack): Promise<readonly string[]> {
  const deployments = await deploymentsOf(stack);
  expect(deployments.filter(({ ready, wanted }) => ready !== wanted)).toEqual([]);
  return deployments.map(({ name }) => name);
}

async function expectNoPlainSecrets(stack: WeirStack): Promise<void> {
  const { items } = JSON.parse(await stack.kubectl("get", "secrets", "--output=json")) as {
    readonly items: readonly { readonly metadata: { readonly name: string }; readonly data?: Record<string, string> }[];
  };
  const files = await stack.files();
  const shown = items.flatMap(({ metadata, data = {} }) =>
    Object.entries(data).flatMap(([key, value]) => {
      const plain = Buffer.from(value, "base64").toString();
      // A name or a certificate is no secret.
      const isPublic = plain.length < 16 || plain.includes("-----BEGIN CERTIFICATE");
      return !isPublic && (files.includes(value) || files.includes(plain)) ? [`${metadata.name}/${key}`] : [];
    }),
  );
  expect(items.length).toBeGreaterThan(3);
  expect(shown).toEqual([]);
  expect(files).not.toMatch(/PRIVATE KEY/);
}

async function expectOwnProviders(stack: PulumiStack): Promise<void> {
  const resources = await stack.resources();
  const byDefault = resources.filter(({ urn, provider }) => /::default[_:]/.test(provider ?? urn));
  expect(byDefault.map(({ urn }) => urn)).toEqual([]);
  expect(resources.filter(({ parent, type }) => parent === undefined && type !== "pulumi:pulumi:Stack")).toEqual([]);
}
