import { afterAll, beforeAll } from "vitest";

import { openClusterPlatform, type ClusterPlatform } from "../../support/cluster-platform.ts";
import { testPlatformUse } from "../../support/platform-use.ts";

/** The platform as a person has it in a cluster: by its gateway's address, and by kubectl. */
let platform: ClusterPlatform;

beforeAll(async () => {
  platform = await openClusterPlatform();
}, 400_000);
afterAll(() => platform?.close(), 200_000);

testPlatformUse(() => platform);
