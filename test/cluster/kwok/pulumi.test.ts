import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { hasPretendedCluster, openPretendedCluster } from "../../support/pretended-cluster.ts";
import { missingPulumi, pulumiCommand, type PulumiStack } from "../../support/engine-stack.ts";
import { say } from "../../support/say.ts";
import type { TestCluster } from "../../support/test-cluster.ts";
import { answerForIngress, expectNothingLeft, openWeirStack, type WeirStack } from "../../support/weir-stack.ts";

const missing = pulumiCommand() === undefined ? missingPulumi : "there is no cluster of level kwok";
const isThere = pulumiCommand() !== undefined && hasPretendedCluster();
if (!isThere) say(`The tests of the Pulumi program are skipped: ${missing}`);

let cluster: TestCluster;

beforeAll(async () => {
  if (isThere) cluster = await openPretendedCluster();
});
afterAll(() => cluster?.close());

const steps = 600_000;
const pem = (what: string): string => `-----BEGIN ${what}-----\nx\n-----END ${what}-----\n`;

describe.skipIf(!isThere)("a stack of edition enterprise", () => {
  let stack: WeirStack;

  beforeAll(async () => {
    stack = await openWeirStack(cluster, "enterprise");
  });
  afterAll(() => stack?.close());

  test(
    "preview makes nothing, up makes that and all is ready, and then there is nothing more to do",
    async () => {
      const preview = await stack.expect("preview");
      await expect(stack.kubectl("get", "namespace", stack.namespace)).rejects.toThrow("not found");
      expect((await stack.expect("up")).changes).toEqual(preview.changes);
      const deployments = await deploymentsOf(stack);
      expect(deployments.map(({ name }) => name)).toEqual([
        "autoscaler",
        "gateway",
        "operator",
        "queue-doctor",
        "queue-worker",
        "queue-worker-billing",
        "queue-worker-reports",
      ]);
      expect(deployments.filter(({ ready, wanted }) => ready !== wanted)).toEqual([]);
      expect((await stack.expect("up")).changes).toEqual([]);
      await stack.expect("refresh", "--expect-no-changes");
      expect(await stack.outputs()).toMatchObject({ edition: "enterprise", queues: ["default", "billing", "reports"] });
    },
    steps,
  );

  test(
    "a secret in the clear is refused, an encrypted one taken, in a group, too",
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

  test("no secret stands in the clear in the state, and no resource is left to a default provider", async () => {
    await expectNothingInTheClear(stack);
    await expectOwnProviders(stack);
  });

  test(
    "a setting rolls those who read it and nobody else",
    async () => {
      await stack.configure({ "weir:upstreamTimeout": "90s" });
      // Neither the broker nor the autoscaler does.
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
    "a smaller edition is refused while something does not fit into it, by name, and nothing is touched",
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
    "an edition down and up again: queues go and come with their workers",
    async () => {
      await stack.configure({ "weir:edition": "pro", "weir:queues": undefined });
      const down = await stack.expect("up");
      expect(down.changes.filter((change) => change.startsWith("delete Deployment"))).toEqual([
        "delete Deployment weir-queue-workers-queue-worker-billing",
        "delete Deployment weir-queue-workers-queue-worker-reports",
      ]);
      await stack.configure({ "weir:edition": "enterprise", "weir:queues": { mail: { replicas: 2 } } });
      const up = await stack.expect("up");
      expect(up.changes.filter((change) => change.startsWith("create Deployment"))).toEqual([
        "create Deployment weir-queue-workers-queue-worker-mail",
      ]);
      expect([...down.changes, ...up.changes].filter((change) => change.includes("replace"))).toEqual([]);
      expect(await stack.outputs()).toMatchObject({ queues: ["default", "mail"] });
    },
    steps,
  );

  test(
    "what somebody else changed is drift, and who would change it hears of a conflict with them",
    async () => {
      const patch = JSON.stringify({ spec: { minReadySeconds: 1, revisionHistoryLimit: 3, replicas: 5 } });
      await stack.kubectl("patch", "deployment", "gateway", `--patch=${patch}`, "--field-manager=somebody");
      expect((await stack.run("refresh", "--preview-only", "--expect-no-changes")).code).not.toBe(0);
      await stack.configure({ "weir:gateway": { replicas: 4 } });
      const { code, output } = await stack.run("up");
      expect(code).not.toBe(0);
      expect(output).toContain('conflict with "somebody"');
    },
    steps,
  );

  test(
    "destroy leaves the definitions of custom resources, as promised, and nothing else",
    () => expectNothingLeft(stack),
    steps,
  );
});

describe.skipIf(!isThere)("an up that does not come to its end", () => {
  let stack: WeirStack;
  /** More processors than any node has: pods that ask for them never start. */
  const tooMany = "999";
  const requested = (kind: string, name: string): Promise<string> => {
    const path = "{.spec.template.spec.containers[0].resources.requests.cpu}";
    return stack.kubectl("get", kind, name, `--output=jsonpath=${path}`);
  };

  beforeAll(async () => {
    stack = await openWeirStack(cluster, "community");
    await stack.expect("up");
  }, steps);
  afterAll(() => stack?.close());

  test(
    "fails soon when pods do not start, and up --refresh is the way back",
    async () => {
      const before = await requested("deployment", "operator");
      await stack.configure({ "weir:cpu": { operator: tooMany }, "weir:timeouts": { deployments: "5s" } });
      const { code, output } = await stack.run("up");
      expect(code).not.toBe(0);
      // The provider took the Deployment for ready; the cluster says that it is not.
      expect(output).toMatch(/Cannot go on after Deployment "operator" in ".*": .* after 5 s/);
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
    "leaves a state that is not true when it is killed, and up --refresh is the way back",
    async () => {
      const before = await requested("statefulset", "nats");
      await stack.configure({ "weir:cpu": { nats: tooMany }, "weir:images": { nats: "weir-nats:wrong" } });
      const isWritten = async () => (await requested("statefulset", "nats")) === tooMany;
      await stack.kill("up", { when: isWritten, within: steps });
      await stack.configure({ "weir:cpu": undefined, "weir:images": undefined });
      // The state has what is asked for, so Pulumi has nothing to do; the cluster has something else.
      const again = await stack.run("up");
      expect(again.code).not.toBe(0);
      expect(again.output).toMatch(
        /Cannot go on after StatefulSet "nats" .*"weir-nats:wrong" instead of .*up --refresh/,
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

// They share nothing but the cluster, and mostly wait.
describe.skipIf(!isThere).concurrent("stacks of the other editions", () => {
  test.each(["community", "standard", "pro"])(
    "%s: preview, up, destroy",
    async (edition) => {
      await using stack = await openWeirStack(cluster, edition);
      const preview = await stack.expect("preview");
      const ingress = edition === "standard" ? answerForIngress(stack, steps) : undefined;
      expect((await stack.expect("up")).changes).toEqual(preview.changes);
      await ingress;
      expect((await deploymentsOf(stack)).filter(({ ready, wanted }) => ready !== wanted)).toEqual([]);
      expect(await stack.outputs()).toMatchObject({ edition, queues: ["default"] });
      await expectNothingInTheClear(stack);
      await expectOwnProviders(stack);
      await expectNothingLeft(stack);
    },
    steps,
  );
});

async function deploymentsOf(stack: WeirStack) {
  const { items } = JSON.parse(await stack.kubectl("get", "deployments", "--output=json")) as {
    readonly items: readonly {
      readonly metadata: { readonly name: string; readonly generation: number };
      readonly spec: { readonly replicas: number };
      readonly status: { readonly availableReplicas?: number };
    }[];
  };
  return items.map(({ metadata: { name, generation }, spec, status }) => ({
    name,
    generation,
    wanted: spec.replicas,
    ready: status.availableReplicas ?? 0,
  }));
}

async function expectNothingInTheClear(stack: WeirStack): Promise<void> {
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
