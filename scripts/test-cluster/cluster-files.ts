import { join } from "node:path";

import { clusterLevels, type ClusterLevel } from "../cluster/places.ts";
import { filesOf, type ClusterSuite } from "../test/tiers.ts";

const root = join(import.meta.dirname, "..", "..");

/** Test files, as paths below the repository, that run on a cluster of one level. */
export interface ClusterFiles {
  /** Those that share the API server well enough to run at the same time. */
  readonly together: readonly string[];
  /** Those that start pods, one after the other: they measure and crash things. */
  readonly inTurn: readonly string[];
}

/** The files of a suite for a cluster of `level` whose path has one of `patterns` in it; all for it when there is no pattern. */
export function clusterFiles(suite: ClusterSuite, level: ClusterLevel, patterns: readonly string[]): ClusterFiles {
  const files = filesOf(suite, root).filter(
    (file) => patterns.length === 0 || patterns.some((pattern) => file.includes(pattern)),
  );
  const of = (each: ClusterLevel): readonly string[] =>
    files.filter((file) => file.startsWith(`test/${suite}/${each}/`));
  const levels = clusterLevels.slice(0, clusterLevels.indexOf(level) + 1);
  return {
    together: levels.filter((each) => each !== "node").flatMap(of),
    inTurn: levels.filter((each) => each === "node").flatMap(of),
  };
}
