import { execFile } from "node:child_process";
import { join } from "node:path";

import { afterAll, beforeAll, expect, test } from "vitest";

import { clusterBinaries } from "../../../scripts/cluster/places.ts";
import { environment } from "../../../runtime/process/settings.ts";
import { openTestCluster, type TestCluster } from "../../support/test-cluster.ts";

const root = join(import.meta.dirname, "..", "..", "..");
let cluster: TestCluster;

beforeAll(async () => {
  cluster = await openTestCluster();
  const metadata = { name: "visitor" };
  await cluster.apply({ apiVersion: "v1", kind: "ServiceAccount", metadata });
});
afterAll(() => cluster?.close());

/** What the command prints and ends with, as the one whom `kubeconfig` names. */
function preflight(kubeconfig: string, ...args: readonly string[]): Promise<{ code: number; lines: string[] }> {
  const command = [join(root, "scripts/preflight/main.ts"), "--kubeconfig", kubeconfig, ...args];
  const env = { ...environment(), PATH: `${clusterBinaries()}:${environment()["PATH"] ?? ""}` };
  return new Promise((resolve) => {
    execFile(process.execPath, command, { cwd: root, env, timeout: 60_000 }, (err, stdout, stderr) =>
      resolve({ code: err === null ? 0 : Number(err.code ?? -1), lines: `${stdout}${stderr}`.trim().split("\n") }),
    );
  });
}

test("an administrator hears what is there, and that the images are not", async () => {
  const { code, lines } = await preflight(cluster.kubeconfig, "--stack", "Pulumi.enterprise.sample.yaml");
  expect(lines).toContainEqual(expect.stringMatching(/^ok {6}Kubernetes v1\.\d+/));
  expect(lines).toContainEqual(expect.stringMatching(/^ok {6}you may do all \d+ things/));
  expect(lines).toContainEqual(expect.stringMatching(/^ok {6}\d+ of \d+ nodes are ready/));
  expect(lines).toContainEqual("ok      storage class standard for 3 × 50Gi");
  const problems = lines.filter((line) => line.startsWith("PROBLEM"));
  expect(problems.filter((line) => !line.startsWith("PROBLEM image "))).toEqual([]);
  expect(code).toBe(problems.length === 0 ? 0 : 1);
});

test("who has no rights hears which, and of what cannot be looked at", async () => {
  const { kubeconfig } = await cluster.account("visitor");
  const { code, lines } = await preflight(kubeconfig);
  expect(code).toBe(1);
  expect(lines).toContainEqual(
    expect.stringMatching(/^PROBLEM you may not get, create, patch, delete deployments in weir:/),
  );
  expect(lines).toContainEqual(expect.stringMatching(/^note {4}nodes cannot be looked at: .*forbidden/));
  expect(lines.at(-1)).toMatch(/^\d+ things are in the way\.$/);
});

test("a cluster that is not there, a stack that is wrong", async () => {
  const away = await preflight("/nowhere/kubeconfig");
  expect(away.code).toBe(1);
  expect(away.lines).toContainEqual(expect.stringMatching(/^PROBLEM the API server cannot be asked: /));
  const missing = await preflight(cluster.kubeconfig, "--stack", "Pulumi.none.yaml");
  expect(missing).toEqual({ code: 1, lines: [expect.stringMatching(/^Cannot read the stack "Pulumi\.none\.yaml": /)] });
});
