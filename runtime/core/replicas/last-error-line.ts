/** Recognises one format of crash output: the index of the line with the error, if it is in that format. */
type Rule = (lines: readonly string[]) => number | undefined;

/** Lines that may follow the error: the rest of a long message, or properties of the error. */
const trailing = 12;

const nodeFooter = /^Node\.js v\d/;
const caret = /^\s*[\^~]+\s*$/;
const frame = /^\s+(?:at|from) /;
const errorLine =
  /^(?:Uncaught |Unhandled exception\. |error: |Exception in thread )*[\w.$]*(?:Error|Exception|Rejection)\b/;
const shellLine = /^(?:\S*sh|\S+\.sh): .*(?:not found|Permission denied|No such file or directory|cannot execute.*)$/;

/** Node.js: the source location, a caret, the error, and its version last. */
const nodeCrash: Rule = (lines) => {
  const footer = lines.findLastIndex((line) => nodeFooter.test(line));
  if (footer < 0 || footer < lines.length - 1) return undefined;
  const mark = lines.findLastIndex((line) => caret.test(line));
  // More lines of the source may follow the caret.
  const error = lines.findIndex((line, index) => index > mark && errorLine.test(line));
  if (mark >= 0 && error > mark) return error;
  if (mark >= 0 && mark + 1 < footer) return mark + 1;
  return found(lines.findLastIndex((line) => errorLine.test(line)));
};

/** Go: goroutines follow the line with the error. */
const goPanic: Rule = (lines) => {
  const goroutine = lines.findLastIndex((line) => /^goroutine \d+ /.test(line));
  const above = lines.slice(0, Math.max(0, goroutine));
  const first = above.findLastIndex((line) => /^(?:panic|fatal error): /.test(line));
  return found(first);
};

/** Rust: the message is on the line below the location, or behind it on the same line. */
const rustPanic: Rule = (lines) => {
  const place = lines.findLastIndex((line) => /^thread '.*' (?:\(\d+\) )?panicked at /.test(line));
  if (place < 0) return undefined;
  return lines[place]?.endsWith(":") === true && place + 1 < lines.length ? place + 1 : place;
};

/** Python: the exception follows the indented frames. */
const pythonTraceback: Rule = (lines) => {
  const head = lines.findLastIndex((line) => line.startsWith("Traceback (most recent call last):"));
  if (head < 0) return undefined;
  const below = lines.findIndex((line, index) => index > head && !/^\s/.test(line));
  return isNearEnd(lines, below) ? found(below) : undefined;
};

/** JVM languages: frames follow each exception; the last one caused the others. */
const javaCause: Rule = (lines) => {
  const cause = lines.findLastIndex((line) => line.startsWith("Caused by: "));
  const head = lines.findLastIndex((line) => line.startsWith("Exception in thread "));
  const line = Math.max(cause, head);
  return lines.slice(line + 1).every((below) => frame.test(below) || /^\s+\.\.\. \d+/.test(below))
    ? found(line)
    : undefined;
};

/** Any language whose indented frames follow the error. */
const stackTrace: Rule = (lines) => {
  const last = lines.findLastIndex((line) => frame.test(line));
  if (!isNearEnd(lines, last)) return undefined;
  let first = last;
  while (first > 0 && frame.test(lines[first - 1] ?? "")) first -= 1;
  const error = lines.findLastIndex(
    (line, index) => index < first && index >= first - trailing && errorLine.test(line),
  );
  return found(error >= 0 ? error : first - 1);
};

const shell: Rule = (lines) => {
  const line = lines.findLastIndex((text) => shellLine.test(text));
  return isNearEnd(lines, line) ? found(line) : undefined;
};

const phpFatal: Rule = (lines) => found(lines.findLastIndex((line) => /^(?:PHP )?Fatal error: /.test(line)));

const rules: readonly Rule[] = [nodeCrash, goPanic, rustPanic, pythonTraceback, javaCause, phpFatal, stackTrace, shell];

/**
 * The one of a program's last lines that says why it ended; the last one if none is recognised. Undefined when there is
 * no output. Blank lines are skipped.
 */
export function lastErrorLine(
  lines: readonly string[],
): { readonly text: string; readonly isLast: boolean } | undefined {
  const written = lines.map((line) => line.trimEnd()).filter((line) => line !== "");
  const last = written.length - 1;
  const index = rules.map((rule) => rule(written)).find((line) => line !== undefined) ?? last;
  const text = written[index];
  return text === undefined ? undefined : { text: text.trim(), isLast: index === last };
}

function isNearEnd(lines: readonly string[], index: number): boolean {
  return index >= 0 && index >= lines.length - 1 - trailing;
}

function found(index: number): number | undefined {
  return index < 0 ? undefined : index;
}
