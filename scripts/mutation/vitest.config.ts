import { defineConfig } from "vitest/config";

import { poisonCondition } from "../../test/support/poison-condition.ts";

/**
 * The unit tests that reach `runtime/core` and do not wait. Otherwise a mutant on the path of every call would wait for
 * real leases and timers, and randomness in a test would change the score.
 */
export default defineConfig({
  resolve: { conditions: [poisonCondition] },
  ssr: { resolve: { conditions: [poisonCondition], externalConditions: [poisonCondition] } },
  test: {
    execArgv: [`--conditions=${poisonCondition}`],
    environment: "node",
    include: [
      "test/unit/core/**/*.test.ts",
      "test/unit/provider/bounded.test.ts",
      "test/unit/queue-worker/{declared-queue,calls/held-call}.test.ts",
    ],
    // Loads the modules once per mutant, not once per test file.
    isolate: false,
    // A mutant that never settles ends here, and counts as killed.
    testTimeout: 5_000,
    hookTimeout: 5_000,
  },
});
