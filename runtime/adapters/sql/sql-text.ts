/** A value that a statement gets beside its text. */
export type SqlValue = null | number | string | Uint8Array;

/** A part of a statement: literal text with values and further parts in between. A value never becomes text. */
export interface SqlText {
  /** One more than there are members. */
  readonly strings: readonly string[];
  readonly members: readonly (SqlText | SqlValue)[];
}

/** A statement as a driver takes it. */
export interface SqlStatement {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

/** Tag of template literals: what is filled in is bound as a value, unless it is itself a part of a statement. */
export function sql(strings: TemplateStringsArray, ...members: readonly (SqlText | SqlValue)[]): SqlText {
  return { strings, members };
}

/** The parts in their order, separated. */
export function joinSql(parts: readonly SqlText[], separator: ", " | " AND "): SqlText {
  if (parts.length === 0) return sql``;
  return { strings: ["", ...parts.slice(1).map(() => separator), ""], members: parts };
}

/** Renders a statement; `parameter` writes the parameter of a number, counted from 1. */
export function renderSql(whole: SqlText, parameter: (number: number) => string): SqlStatement {
  const values: SqlValue[] = [];
  const render = ({ strings, members }: SqlText): string => {
    let text = strings[0] ?? "";
    for (const [index, member] of members.entries()) {
      text += isSqlText(member) ? render(member) : parameter(values.push(member));
      text += strings[index + 1] ?? "";
    }
    return text;
  };
  return { text: render(whole), values };
}

function isSqlText(member: SqlText | SqlValue): member is SqlText {
  return typeof member === "object" && member !== null && "strings" in member;
}
