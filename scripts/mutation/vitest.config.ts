import { defineConfig } from "vitest/config";

/** Fills returned buffers, as in the root configuration. */
const poison = "weir-poison";

/**
 * The unit tests that reach `runtime/core` and wait for nothing. A mutant on the path of every call would wait for real
 * leases and timers otherwise, and chance in a test would change the score.
 */
export default defineConfig({
  resolve: { conditions: [poison] },
  ssr: { resolve: { conditions: [poison], externalConditions: [poison] } },
  test: {
    execArgv: [`--conditions=${poison}`],
    environment: "node",
    include: [
      "test/unit/core/**/*.test.ts",
      "test/unit/provider/bounded.test.ts",
      "test/unit/queue-worker/{declared-queue,calls/held-call}.test.ts",
    ],
    // Loads the modules once per mutant, not once per test file of it.
    isolate: false,
    // A mutant that never settles ends here: it is killed then.
    testTimeout: 5_000,
    hookTimeout: 5_000,
  },
});
