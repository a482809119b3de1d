import { InvalidArgumentError } from "commander";

/** A part of all files: the `part`-th of `parts`, counted from 1. */
export interface Share {
  readonly part: number;
  readonly parts: number;
}

const daysOfWeek = 7;

/**
 * Reads `2/7`, or `today`: the share of the day of the week, so that seven nights in a row try all.
 * @throws InvalidArgumentError when it is neither
 */
export function readShare(text: string, now: Date): Share {
  if (text === "today") return { part: now.getUTCDay() + 1, parts: daysOfWeek };
  const [, part, parts] = /^(\d{1,3})\/(\d{1,3})$/.exec(text) ?? [];
  const share = { part: Number(part), parts: Number(parts) };
  if (share.part >= 1 && share.part <= share.parts) return share;
  throw new InvalidArgumentError('it must be "today", or a part of a number of parts, such as "2/7"');
}

/** Every `parts`-th of the files in the order of their names, so that each share has some of every folder. */
export function filesOfShare(files: readonly string[], { part, parts }: Share): string[] {
  return files.toSorted().filter((_file, index) => index % parts === part - 1);
}
