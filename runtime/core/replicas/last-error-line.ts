/** Recognises one format of crash output: the index of the line with the error, if it is in that format. */
type Rule = (lines: readonly string[]) => number | undefined;

/** Lines that may follow the error: the rest of a long message, or properties of the error. */
const trailing = 12;

const nodeFooter = /^Node\.js v\d/;
const caret = /^\s*[\^~]+$/;
const frame = /^\s+(?:at|from) /;
const errorLine =
  /^(?:Uncaught |Unhandled exception\. |error: |Exception in thread )*[\w.$]*(?:Error|Exception|Rejection)\b/;
const shellLine =
  /^(?:-?(?:\S*\/)?(?:a|ba|da|k|z)?sh|\S+\.sh): .*(?:not found|Permission denied|No such file or directory|cannot execute.*)$/;

/** Node.js: the source location, a caret, the error, and its version last. */
const nodeCrash: Rule = (lines) => {
  if (!nodeFooter.test(lines.at(-1) ?? "")) return undefined;
  const mark = lines.findLastIndex((line) => caret.test(line));
  if (mark < 0) return found(lines.findLastIndex((line) => errorLine.test(line)));
  // More lines of the source may follow the caret.
  const error = lines.slice(mark + 1).findIndex((line) => errorLine.test(line));
  return mark + 1 + Math.max(0, error);
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
  const head = lines.lastIndexOf("Traceback (most recent call last):");
  if (head < 0) return undefined;
  return foundNearEnd(
    lines,
    lines.findIndex((line, index) => index > head && !/^\s/.test(line)),
  );
};

/** JVM languages: frames follow each exception; the last one caused the others. */
const javaCause: Rule = (lines) => {
  const cause = lines.findLastIndex((line) => line.startsWith("Caused by: "));
  const end = Math.max(
    cause,
    lines.findLastIndex((line) => frame.test(line)),
  );
  const isLast = lines.slice(cause + 1, end).every((line) => frame.test(line));
  return isLast && foundNearEnd(lines, end) !== undefined ? found(cause) : undefined;
};

/** Any language whose indented frames follow the error. */
const stackTrace: Rule = (lines) => {
  const last = lines.findLastIndex((line) => frame.test(line));
  if (foundNearEnd(lines, last) === undefined) return undefined;
  const above = lines.slice(0, last).findLastIndex((line) => !frame.test(line));
  const error = lines.findLastIndex(
    (line, index) => index <= above && index > above - trailing && errorLine.test(line),
  );
  return found(error < 0 ? above : error);
};

const shell: Rule = (lines) =>
  foundNearEnd(
    lines,
    lines.findLastIndex((line) => shellLine.test(line)),
  );

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

function foundNearEnd(lines: readonly string[], index: number): number | undefined {
  return index >= lines.length - 1 - trailing ? found(index) : undefined;
}

function found(index: number): number | undefined {
  return index < 0 ? undefined : index;
}
