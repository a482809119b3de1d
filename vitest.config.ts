import { defineConfig } from "vitest/config";

import { FileOrder } from "./test/support/file-order.ts";
import { poisonCondition } from "./test/support/poison-condition.ts";

/**
 * Tests of one kind: the folder below `test/`, and the milliseconds one test or hook may take. That is for one that hangs: on a
 * machine that others use a test takes several times as long.
 */
function project(name: string, timeout: number) {
  return {
    extends: true as const,
    test: {
      name,
      include: [`test/${name}/**/*.test.ts`],
      testTimeout: timeout,
      hookTimeout: timeout,
    },
  };
}

/** Such tests with what all their files share: what the modules `shared` of `test/support` provide. */
function projectWith(shared: readonly string[], name: string, timeout: number) {
  const made = project(name, timeout);
  return { ...made, test: { ...made.test, globalSetup: shared.map((each) => `test/support/${each}.ts`) } };
}

/**
 * Such tests whose files share processes and their modules: what a file opens it closes, and modules keep no state but caches.
 * A process with its modules for each file would cost as much as unit tests, and 0.6 s for each file of integration tests.
 */
function inShared<T extends ReturnType<typeof project>>(made: T) {
  return { ...made, test: { ...made.test, isolate: false } };
}

export default defineConfig({
  resolve: { conditions: [poisonCondition] },
  ssr: { resolve: { conditions: [poisonCondition], externalConditions: [poisonCondition] } },
  test: {
    execArgv: [`--conditions=${poisonCondition}`],
    env: { NODE_OPTIONS: `--conditions=${poisonCondition}` },
    environment: "node",
    // A failure names the values, not "[ Array(1) ]": of some runs the summary is all that is kept.
    chaiConfig: { truncateThreshold: 1_000 },
    // Its own limit is a second, which a busy machine takes for anything.
    expect: { poll: { timeout: 45_000 } },
    // Real processes, signals and sockets: threads would share the process.
    pool: "forks",
    maxWorkers: 2,
    sequence: { sequencer: FileOrder },
    teardownTimeout: 15_000,
    projects: [
      inShared(project("unit", 60_000)),
      inShared(projectWith(["docker-engine-setup", "platform-programs-setup"], "integration", 400_000)),
      inShared(projectWith(["docker-engine-setup", "platform-programs-setup", "cli-setup"], "e2e", 400_000)),
      projectWith(["platform-programs-setup"], "alone", 180_000),
      projectWith(["cluster-setup", "platform-programs-setup"], "cluster", 400_000),
      projectWith(["docker-engine-setup"], "nightly", 1_800_000),
      projectWith(["cluster-setup"], "nightly-cluster", 180_000),
    ],
  },
});
