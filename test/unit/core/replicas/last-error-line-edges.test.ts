import { describe, expect, test } from "vitest";

import { lastErrorLine } from "../../../../runtime/core/replicas/last-error-line.ts";

const textOf = (...lines: string[]): string | undefined => lastErrorLine(lines)?.text;
const times = (count: number, line: string): string[] => Array.from({ length: count }, () => line);
const nodeVersion = "Node.js v26.10.0";

describe("a crash of Node.js", () => {
  test.each<[what: string, lines: string[], text: string]>([
    [
      "an error that was printed before it is another one",
      ["Error: no cache, going on without", "/srv/app.js:1", "throw new Fault()", "^", "Fault: no port", nodeVersion],
      "Fault: no port",
    ],
    [
      "its message may have a second line that looks like an error",
      ["/srv/app.js:1", "^", "Error: build failed", "TypeError: x is not a function", nodeVersion],
      "Error: build failed",
    ],
    [
      "the place may be marked over several columns",
      ["throw fault()", "      ^^^^^^^", "Error: build failed", "TypeError: x is not a function", nodeVersion],
      "Error: build failed",
    ],
    [
      "a caret beside other text marks no place",
      ["/srv/app.js:1", "^", "Error: no package matches", "^1.0.0", "or 2^", nodeVersion],
      "Error: no package matches",
    ],
    [
      "a sentence about Node.js does not end one",
      ["Error: no cache, going on without", `running on ${nodeVersion}`],
      `running on ${nodeVersion}`,
    ],
    [
      "the lines may begin at its caret",
      ["^", "5", "(Use `node --trace-uncaught ...` to show where the exception was thrown)", nodeVersion],
      "5",
    ],
    [
      "without a caret the last error counts",
      ["Error: first attempt failed", "Error: second attempt failed", nodeVersion],
      "Error: second attempt failed",
    ],
    ["nothing else may be left of it", [nodeVersion], nodeVersion],
    [
      "one that was followed by another start is over",
      ["/srv/app.js:1", "throw 5", "^", "5", nodeVersion, "starting again", "no configuration"],
      "no configuration",
    ],
  ])("%s", (_what, lines, text) => expect(textOf(...lines)).toBe(text));
});

describe("a panic of Go", () => {
  test("goroutines may have numbers of several digits", () => {
    expect(textOf("panic: no port", "", "goroutine 117 [running]:", "main.main()")).toBe("panic: no port");
  });

  test.each<[what: string, lines: string[]]>([
    ["without goroutines it is a message like others", ["panic: the button was pressed"]],
    ["a message that names a goroutine is none", ["panic: the button was pressed", "started goroutine 4 of 8"]],
    ["one that was caught is not the end", ["caught panic: no name", "goroutine 7 [running]:", "main.serve()"]],
    ["it stands above the goroutines", ["goroutine 7 [running]:", "main.serve()", "fatal error: see above"]],
  ])("%s", (_what, lines) => expect(textOf(...lines, "no configuration")).toBe("no configuration"));
});

describe("a panic of Rust", () => {
  test.each<[what: string, lines: string[], text: string]>([
    [
      "the thread may have an id",
      ["thread 'main' (4711) panicked at src/main.rs:2:5:", "no port", "note: run with …"],
      "no port",
    ],
    [
      "older versions have the message on the same line",
      ["thread 'main' panicked at 'no port', src/main.rs:2:5", "note: run with …"],
      "thread 'main' panicked at 'no port', src/main.rs:2:5",
    ],
    [
      "the message may be cut off",
      ["thread 'main' panicked at src/main.rs:2:5:"],
      "thread 'main' panicked at src/main.rs:2:5:",
    ],
    [
      "a log entry about one is not the end",
      ["WARN thread 'worker' panicked at src/job.rs:9:1:", "job 7 failed", "no configuration"],
      "no configuration",
    ],
  ])("%s", (_what, lines, text) => expect(textOf(...lines)).toBe(text));
});

describe("a traceback of Python", () => {
  const frames = ["Traceback (most recent call last):", '  File "/srv/app.py", line 1, in <module>'];

  test("the exception is the first line below its frames, also where the traceback is all there is", () => {
    expect(textOf(...frames, "RuntimeError: cannot start", "see the manual")).toBe("RuntimeError: cannot start");
  });

  test("a log entry with one is not the end", () => {
    expect(textOf(`ERROR ${frames[0]}`, ...frames.slice(1), "KeyError: 'name'", "no port")).toBe("no port");
  });

  test("twelve more lines may follow", () => {
    expect(textOf(...frames, "KeyError: 'name'", ...times(12, "more"))).toBe("KeyError: 'name'");
    expect(textOf(...frames, "KeyError: 'name'", ...times(13, "more"))).toBe("more");
  });
});

describe("an exception of Java", () => {
  const thrown = 'Exception in thread "main" java.lang.IllegalStateException: cannot start';
  const cause = "Caused by: java.lang.NumberFormatException: no port";

  test("its frames may end with how many are left out, however deep", () => {
    expect(textOf(thrown, "\tat P.main(P.java:1)", cause, "\tat P.port(P.java:2)", "\t\t... 12 more")).toBe(cause);
  });

  test("its cause is told also if a few lines follow the frames", () => {
    const lines = [thrown, "\tat P.main(P.java:1)", cause, "\tat P.port(P.java:2)"];
    expect(textOf(...lines, "stopping", "the server has stopped")).toBe(cause);
    expect(textOf(...lines, ...times(12, "stopping"))).toBe(cause);
    expect(textOf(...lines, ...times(13, "stopping"))).toBe("stopping");
  });

  test("a cause that was handled is not the one of a later exception", () => {
    const later = 'Exception in thread "main" java.lang.IllegalStateException: no data';
    expect(textOf(cause, "\tat P.port(P.java:2)", "going on without", later, "\tat P.main(P.java:9)")).toBe(later);
  });

  test("one that was logged long before is not the end, whatever the lines since look like", () => {
    expect(textOf(thrown, cause, "\tat P.port(P.java:2)", ...times(20, "next attempt in ... 5 s"))).toBe(
      "next attempt in ... 5 s",
    );
  });
});

describe("a stack trace of any language", () => {
  const error = "Error: no route to the database";
  const at = "    at main (file:///srv/app.mjs:5:9)";

  test.each<[what: string, lines: string[], text: string]>([
    ["it may have any number of frames", [error, ...times(30, at)], error],
    ["the last one counts", ["Error: no cache", at, error, at], error],
    ["an error above it has none of these frames", ["Error: no cache", error, at], error],
    ["an error below it is what followed", [error, at, "Error: the task failed"], error],
    ["its message may have twelve lines", [error, ...times(11, "more"), at], error],
    ["the line above the frames stands for a longer one", [error, ...times(12, "more"), at], "more"],
    ["an unknown word above the frames is the error", ["started", "fault: no port", at], "fault: no port"],
    ["a sentence is no frame", [error, "the next attempt is at noon", "or from another host"], "or from another host"],
    ["frames without an error tell nothing", [at, at, "no configuration"], "no configuration"],
    ["twelve more lines may follow", [error, at, ...times(12, "going on")], error],
    ["one that is longer ago is unrelated", [error, at, ...times(13, "going on")], "going on"],
  ])("%s", (_what, lines, text) => expect(textOf(...lines)).toBe(text));
});

test.each<[lines: string[], text: string]>([
  [
    ["PHP Fatal error:  no port in /srv/a.php:3", "Stack trace:", "#0 {main}"],
    "PHP Fatal error:  no port in /srv/a.php:3",
  ],
  [
    ["Fatal error: no port in /srv/a.php:3", "  thrown in /srv/a.php on line 3"],
    "Fatal error: no port in /srv/a.php:3",
  ],
  [["log: Fatal error: no cache", "no configuration"], "no configuration"],
])("a fatal error of PHP: %j", (lines, text) => expect(textOf(...lines)).toBe(text));

describe("a shell", () => {
  test.each<[line: string]>([
    ["/bin/sh: nosuchprog: not found"],
    ["bash: line 1: nosuchprog: command not found"],
    ["-ash: nosuchprog: not found"],
    ["/srv/start.sh: line 3: /srv/app: Permission denied"],
    ["zsh: /srv/app: No such file or directory"],
    ["bash: /srv/app: cannot execute binary file: Exec format error"],
  ])("%s", (line) => expect(textOf(line, "the task has ended")).toBe(line));

  test.each<[line: string]>([
    ["after the last push: image not found"],
    ["push: image not found"],
    ["refresh: /srv/cache: No such file or directory"],
    ["sh: 1: tini: not found, going on without"],
    ["bash: going on"],
  ])("is not what says %s", (line) => expect(textOf(line, "the task has ended")).toBe("the task has ended"));
});
