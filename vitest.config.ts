import { defineConfig } from "vitest/config";

/**
 * Tests of one kind: the folder below `test/`, the milliseconds one test or hook may take, and how often a test that
 * failed is tried again (docs/decisions/0029-second-try.md).
 */
function project(name: string, timeout: number, retry = 0) {
  return {
    extends: true as const,
    test: {
      name,
      include: [`test/${name}/**/*.test.ts`],
      testTimeout: timeout,
      hookTimeout: timeout,
      retry,
    },
  };
}

/** Bytes that were given back are filled, here and in every process that a test starts (`runtime/http1/give-back.ts`). */
const poison = "weir-poison";

const onCluster = project("cluster", 180_000, 1);

/** Tests on a real API server get to know of it by `provide`. */
const cluster = { ...onCluster, test: { ...onCluster.test, globalSetup: ["test/support/cluster-setup.ts"] } };

export default defineConfig({
  resolve: { conditions: [poison] },
  ssr: { resolve: { conditions: [poison], externalConditions: [poison] } },
  test: {
    execArgv: [`--conditions=${poison}`],
    env: { NODE_OPTIONS: `--conditions=${poison}` },
    environment: "node",
    // Real processes, signals and sockets: threads would share the process.
    pool: "forks",
    maxWorkers: 2,
    teardownTimeout: 15_000,
    projects: [
      project("unit", 15_000),
      project("integration", 60_000, 1),
      project("alone", 60_000, 1),
      project("e2e", 180_000, 1),
      project("soak", 1_800_000),
      cluster,
    ],
  },
});
