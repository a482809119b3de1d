import { execFile } from "node:child_process";
import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { environment } from "../../../runtime/process/settings.ts";
import { findTool } from "../../../scripts/debian-tool.ts";
import { clusterFiles } from "../../../scripts/test-cluster/cluster-files.ts";
import { addedLines, machineState } from "../../../scripts/test-cluster/machine-state.ts";
import { givenCluster } from "../../support/cluster-setup.ts";
import { tempDirectory } from "../../support/temp-directory.ts";

const main = join(import.meta.dirname, "..", "..", "..", "scripts", "test-cluster", "main.ts");

describe("npm run test:cluster", () => {
  test("runs the files of a level and the levels below it, those with pods one after the other", () => {
    const api = "test/cluster/api/test-cluster.test.ts";
    expect(clusterFiles("cluster", "api", []).together).toContain(api);
    expect(clusterFiles("cluster", "api", []).inTurn).toEqual([]);
    expect(clusterFiles("cluster", "node", []).together).toContain(api);
    expect(clusterFiles("cluster", "node", []).inTurn).toContain("test/cluster/node/pods.test.ts");
    expect(clusterFiles("cluster", "node", ["node/pods"])).toEqual({
      together: [],
      inTurn: ["test/cluster/node/pods.test.ts"],
    });
  });

  test("starts no cluster for missing files", async () => {
    const { code, stderr } = await run({ WEIR_TEST_CLUSTER: undefined }, "--level", "api", "node/pods");
    expect(stderr).toContain('level api has no file whose path has "node/pods" in it');
    expect(code).toBe(1);
  });

  test.each([
    [{ WEIR_TEST_CLUSTER: "existing" }, "KUBECONFIG does not say which"],
    [{ WEIR_TEST_CLUSTER: "existing", KUBECONFIG: "/nowhere" }, 'KUBECONFIG "/nowhere" is not the path of one file'],
    [{ WEIR_TEST_CLUSTER: "mine" }, 'WEIR_TEST_CLUSTER is "mine"'],
  ])("says with %o how to get a cluster, and ends with 2", async (variables, reason) => {
    const { code, stderr } = await run({ KUBECONFIG: undefined, ...variables });
    expect(stderr).toContain(reason);
    expect(stderr).toContain("kind create cluster");
    expect(stderr).toContain("k3d cluster create");
    expect(code).toBe(2);
  });

  test.skipIf(process.platform !== "linux")("without binaries and Go the message is the same", async () => {
    await using directory = await tempDirectory();
    // Of the system's programs only the one that looks for the binaries.
    for (const name of ["bash", "dirname", "realpath"]) {
      await symlink(findTool(name) ?? name, join(directory.path, name));
    }
    const variables = { WEIR_TEST_CLUSTER: undefined, WEIR_CLUSTER_BIN: directory.path, PATH: directory.path };
    const { code, stderr } = await run(variables, "--level", "api");
    expect(stderr).toContain("the binaries are not built, and there is no Go");
    expect(code).toBe(2);
  });
});

describe("the tests' cluster", () => {
  const named = { WEIR_TEST_CLUSTER: "existing", KUBECONFIG: "/some/config" };

  test("is the named one, and no other", () => {
    expect(givenCluster({ KUBECONFIG: "/some/config" })).toHaveProperty("missing");
    expect(givenCluster({ WEIR_TEST_CLUSTER: "existing" })).toHaveProperty("missing");
    expect(givenCluster({ ...named, WEIR_TEST_CLUSTER_LEVEL: "all" })).toHaveProperty("missing");
    expect(givenCluster(named)).toMatchObject({ kubeconfig: "/some/config", level: "node" });
    const own = { ...named, WEIR_TEST_CLUSTER_LEVEL: "api", WEIR_TEST_CLUSTER_DIR: "/some" };
    expect(givenCluster(own)).toMatchObject({ level: "api", directory: "/some" });
  });
});

test.skipIf(process.platform !== "linux")("what a cluster leaves behind is detected", async () => {
  await using directory = await tempDirectory();
  const place = join(directory.path, "cluster");
  const before = machineState(place);
  expect(before).not.toContain(`directory ${place}`);
  await mkdir(place);
  // Another cluster may start meanwhile.
  expect(addedLines(before, machineState(place))).toContain(`directory ${place}`);
});

interface Ended {
  readonly code: unknown;
  readonly stderr: string;
}

function run(variables: Readonly<Record<string, string | undefined>>, ...args: string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(process.execPath, [main, ...args], { env: { ...environment(), ...variables } }, (err, _stdout, stderr) =>
      resolve({ code: err === null ? 0 : err.code, stderr }),
    );
  });
}
