import { readFile } from "node:fs/promises";

import { BaseSequencer, type TestSpecification } from "vitest/node";

/** What a file imports to use the engine. */
const engineModules = ["/shared-docker-engine.ts", "/docker-weir.ts"];

/**
 * Large files first, as vitest has them without results of an earlier run, but those that use the container engine of their suite
 * apart: one of them has it at a time, and next to each other they would keep all workers waiting for it.
 */
export class FileOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const texts = await Promise.all(sorted.map(async (file) => [file, await readFile(file.moduleId, "utf8")] as const));
    const withEngine = new Set(
      texts.filter(([, text]) => engineModules.some((module) => text.includes(module))).map(([file]) => file),
    );
    const projects = Map.groupBy(sorted, ({ project }) => project.name);
    return [...projects.values()].flatMap((those) => spreadOut(those, (file) => withEngine.has(file)));
  }
}

/**
 * The same items, those chosen at equal distances over the first half of the others, the first at the start: what takes long is not left
 * for the end, when other workers have nothing more to do.
 */
export function spreadOut<T>(items: readonly T[], isChosen: (item: T) => boolean): readonly T[] {
  const chosen = items.filter(isChosen);
  const others = items.filter((item) => !isChosen(item));
  const distance = others.length / 2 / Math.max(1, chosen.length);
  return [
    ...chosen.map((item, index) => ({ item, at: index * distance })),
    ...others.map((item, index) => ({ item, at: index })),
  ]
    .sort((one, other) => one.at - other.at)
    .map(({ item }) => item);
}
