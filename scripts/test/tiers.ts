import { globSync } from "node:fs";
import { join } from "node:path";

/**
 * Kinds of tests that `npm test` runs, in this order; each is a project of vitest.config.ts and the folder of its name below
 * `test`. Those whose measurements others on the machine would disturb run last, alone, one file after the other.
 */
export const suites = ["unit", "integration", "e2e", "alone"] as const;

export type Suite = (typeof suites)[number];

/** Kinds of tests that need a Kubernetes cluster; subfolders are named after the cluster level they need. */
export type ClusterSuite = "cluster" | "nightly-cluster";

/** All projects that can be run. */
export type Project = Suite | "nightly" | ClusterSuite;

/** When a test runs: on every change, or at night. */
export type Tier = "first" | "nightly";

/** The projects of each tier. */
export const tiers: Readonly<Record<Tier, readonly Project[]>> = {
  first: [...suites, "cluster"],
  nightly: ["nightly", "nightly-cluster"],
};

/** Test files of a project, as paths below the repository, in the order of their names. */
export function filesOf(project: Project, root: string): readonly string[] {
  return globSync(join("test", project, "**", "*.test.ts"), { cwd: root }).sort();
}
