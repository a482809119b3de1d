/** The result of a check: one line, and what to do about it. */
export interface Finding {
  /** `note`: works, or cannot be told from here. */
  readonly level: "ok" | "note" | "problem";
  readonly says: string;
  readonly todo?: string;
}

export const ok = (says: string): Finding => ({ level: "ok", says });
export const note = (says: string, todo?: string): Finding => ({
  level: "note",
  says,
  ...(todo === undefined ? {} : { todo }),
});
export const problem = (says: string, todo: string): Finding => ({ level: "problem", says, todo });

const words = { ok: "ok     ", note: "note   ", problem: "PROBLEM" } as const;

/** The line for people. */
export function lineOf({ level, says, todo }: Finding): string {
  return `${words[level]} ${says}${todo === undefined ? "" : `: ${todo}`}`;
}
