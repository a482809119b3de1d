/** A part of a line in one look. */
export interface AnsiRun {
  readonly text: string;
  /** Classes of the sheet: `ansi-bold`, `ansi-red`, `ansi-on-blue`. */
  readonly classes: string;
}

const colours = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"] as const;
/** Look changes (SGR), and every other sequence that a terminal would follow. */
// oxlint-disable-next-line no-control-regex -- these characters are what begins a sequence
const sequence = /\u001b\[([0-9;:]*)m|\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g;

interface Look {
  readonly bold: boolean;
  readonly dim: boolean;
  readonly italic: boolean;
  readonly underline: boolean;
  readonly front: string | undefined;
  readonly back: string | undefined;
}
const noLook: Look = { bold: false, dim: false, italic: false, underline: false, front: undefined, back: undefined };

/** Splits a line by its colours; other sequences are left out, as nothing here follows them. */
export function ansiRuns(line: string): readonly AnsiRun[] {
  const runs: AnsiRun[] = [];
  let look = noLook;
  let from = 0;
  const push = (text: string): void => {
    if (text !== "") runs.push({ text, classes: classesOf(look) });
  };
  for (const match of line.matchAll(sequence)) {
    push(line.slice(from, match.index));
    if (match[1] !== undefined) look = changed(look, match[1].split(/[;:]/).map(Number));
    from = match.index + match[0].length;
  }
  push(line.slice(from));
  return runs.length === 0 ? [{ text: "", classes: "" }] : runs;
}

function changed(look: Look, codes: readonly number[]): Look {
  let next = look;
  for (let index = 0; index < codes.length; index++) {
    const code = codes[index] ?? 0;
    if (code === 38 || code === 48) {
      // A colour of 256 or of all: the nearest of eight would be a guess, so it stays as it is.
      index += codes[index + 1] === 5 ? 2 : codes[index + 1] === 2 ? 4 : 0;
    } else {
      next = withCode(next, code);
    }
  }
  return next;
}

function withCode(look: Look, code: number): Look {
  const colour = colours[code % 10];
  const tens = Math.floor(code / 10);
  if (code === 0) return noLook;
  if (code === 1) return { ...look, bold: true };
  if (code === 2) return { ...look, dim: true };
  if (code === 3) return { ...look, italic: true };
  if (code === 4) return { ...look, underline: true };
  if (code === 22) return { ...look, bold: false, dim: false };
  if (code === 23) return { ...look, italic: false };
  if (code === 24) return { ...look, underline: false };
  if (code === 39) return { ...look, front: undefined };
  if (code === 49) return { ...look, back: undefined };
  if (colour !== undefined && (tens === 3 || tens === 9)) return { ...look, front: colour };
  if (colour !== undefined && (tens === 4 || tens === 10)) return { ...look, back: colour };
  return look;
}

function classesOf({ bold, dim, italic, underline, front, back }: Look): string {
  return [
    ...(bold ? ["ansi-bold"] : []),
    ...(dim ? ["ansi-dim"] : []),
    ...(italic ? ["ansi-italic"] : []),
    ...(underline ? ["ansi-underline"] : []),
    ...(front === undefined ? [] : [`ansi-${front}`]),
    ...(back === undefined ? [] : [`ansi-on-${back}`]),
  ].join(" ");
}
