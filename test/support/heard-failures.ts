import { expect } from "vitest";

/** What a part reports in the background, where a thrown error would belong to no test. */
export interface HeardFailures {
  readonly hear: (err: unknown) => void;
  /** Fails when something was heard since the last look. Before the part's connection is closed, which it may report. */
  none(): void;
}

export function heardFailures(): HeardFailures {
  const heard: unknown[] = [];
  return {
    hear: (err) => void heard.push(err),
    none: () => expect(heard.splice(0)).toEqual([]),
  };
}
