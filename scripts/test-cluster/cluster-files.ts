import { join } from "node:path";

import { clusterLevels, type ClusterLevel } from "../cluster/places.ts";
import { filesOf, type ClusterSuite } from "../test/tiers.ts";

const root = join(import.meta.dirname, "..", "..");

/** Test files, as paths below the repository, that run on a cluster of one level. */
export interface ClusterFiles {
  /** Files that can share the API server, and run at the same time. */
  readonly together: readonly string[];
  /** Files that start pods, and run one after the other: they measure and crash things. */
  readonly inTurn: readonly string[];
}

/**
 * The files of a suite for a cluster of `level` whose path contains one of `patterns`; all of them without a pattern.
 */
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
