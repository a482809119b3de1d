import { describe, expect, test } from "vitest";

import { lastErrorLine } from "../../../../runtime/core/replicas/last-error-line.ts";

/** What programs really wrote when they ended, and the line that tells the cause. */
const crashes: readonly [what: string, output: string, line: string][] = [
  [
    "node, an uncaught error",
    `
/srv/app.js:1
throw new Error("DATABASE_URL is not set")
^

Error: DATABASE_URL is not set
    at Object.<anonymous> (/srv/app.js:1:7)
    at Module._compile (node:internal/modules/cjs/loader:1956:14)
    at node:internal/main/run_main_module:33:47

Node.js v26.10.0
`,
    "Error: DATABASE_URL is not set",
  ],
  [
    "node, syntax",
    `
/srv/app.js:1
const x = ;
          ^

SyntaxError: Unexpected token ';'
    at wrapSafe (node:internal/modules/cjs/loader:1888:18)
    at node:internal/main/run_main_module:33:47

Node.js v26.10.0
`,
    "SyntaxError: Unexpected token ';'",
  ],
  [
    "node, syntax of TypeScript, with more of the source below the caret",
    `
file:///srv/app.ts:1
const a = ;
          ^
let b: number = 3;

SyntaxError [ERR_INVALID_TYPESCRIPT_SYNTAX]: Expression expected
    at parseTypeScript (node:internal/modules/typescript:61:36)
    at node:internal/main/run_main_module:33:47 {
  code: 'ERR_INVALID_TYPESCRIPT_SYNTAX'
}

Node.js v26.10.0
`,
    "SyntaxError [ERR_INVALID_TYPESCRIPT_SYNTAX]: Expression expected",
  ],
  [
    "node, a package that is not there",
    `
node:internal/modules/package_json_reader:343
  throw new ERR_MODULE_NOT_FOUND(packageName, fileURLToPath(base), null);
        ^

Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'express' imported from /srv/app.mjs
    at Object.getPackageJSONURL (node:internal/modules/package_json_reader:343:9)
    at ModuleJob.syncLink (node:internal/modules/esm/module_job:277:33) {
  code: 'ERR_MODULE_NOT_FOUND'
}

Node.js v26.10.0
`,
    "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'express' imported from /srv/app.mjs",
  ],
  [
    "node, a module that is not there",
    `
node:internal/modules/cjs/loader:1595
  throw err;
  ^

Error: Cannot find module 'express'
Require stack:
- /srv/app.js
    at Module._resolveFilename (node:internal/modules/cjs/loader:1591:15)
    at Module._compile (node:internal/modules/cjs/loader:1956:14) {
  code: 'MODULE_NOT_FOUND',
  requireStack: [ '/srv/app.js' ]
}

Node.js v26.10.0
`,
    "Error: Cannot find module 'express'",
  ],
  [
    "node, an error with a cause",
    `
/srv/app.js:1
class MyFault extends Error { name="MyFault" }
                                             ^

MyFault: outer
    at Object.<anonymous> (/srv/app.js:1:57)
    ... 5 lines matching cause stack trace ...
    at node:internal/main/run_main_module:33:47 {
  [cause]: Error: inner ECONNREFUSED
      at Object.<anonymous> (/srv/app.js:1:86)
      at node:internal/main/run_main_module:33:47
}

Node.js v26.10.0
`,
    "MyFault: outer",
  ],
  [
    "node, an error of a socket",
    `
node:events:505
    throw er; // Unhandled 'error' event
    ^

Error: connect ECONNREFUSED 127.0.0.1:1
    at TCPConnectWrap.afterConnect [as oncomplete] (node:net:2083:16)
Emitted 'error' event on Socket instance at:
    at emitErrorNT (node:internal/streams/destroy:170:8)
    at process.processTicksAndRejections (node:internal/process/task_queues:90:21) {
  errno: -111,
  code: 'ECONNREFUSED',
  syscall: 'connect',
  address: '127.0.0.1',
  port: 1
}

Node.js v26.10.0
`,
    "Error: connect ECONNREFUSED 127.0.0.1:1",
  ],
  [
    "node, something else than an Error is thrown",
    `
/srv/app.js:1
throw 5
^
5
(Use \`node --trace-uncaught ...\` to show where the exception was thrown)

Node.js v26.10.0
`,
    "5",
  ],
  [
    "node, an error that is caught and printed",
    `
connecting
Error: no route to the database
    at main (file:///srv/app.mjs:5:9)
    at async file:///srv/app.mjs:9:1
`,
    "Error: no route to the database",
  ],
  [
    "python, a traceback",
    `
Traceback (most recent call last):
  File "/srv/app.py", line 1, in <module>
    import nothing_here
ModuleNotFoundError: No module named 'nothing_here'
`,
    "ModuleNotFoundError: No module named 'nothing_here'",
  ],
  [
    "python, an exception while another was handled, its message of two lines",
    `
Traceback (most recent call last):
  File "/srv/app.py", line 3, in <module>
    int("x")
ValueError: invalid literal for int() with base 10: 'x'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/srv/app.py", line 5, in <module>
    raise RuntimeError("cannot start\\nsee the manual")
RuntimeError: cannot start
see the manual
`,
    "RuntimeError: cannot start",
  ],
  [
    "python, a traceback long before the end is unrelated",
    `
Traceback (most recent call last):
  File "/srv/app.py", line 3, in handle
KeyError: 'name'
${"INFO: GET / 200\n".repeat(20)}[Errno 98] Address already in use
`,
    "[Errno 98] Address already in use",
  ],
  [
    "go, a panic",
    `
panic: assignment to entry in nil map

goroutine 1 [running]:
main.main()
\t/srv/main.go:2 +0x34
exit status 2
`,
    "panic: assignment to entry in nil map",
  ],
  [
    "go, a fatal error with many goroutines",
    `
fatal error: all goroutines are asleep - deadlock!

goroutine 1 [chan receive]:
main.main()
\t/srv/main.go:3 +0x1d

goroutine 18 [select]:
main.work()
\t/srv/main.go:9 +0x5f
`,
    "fatal error: all goroutines are asleep - deadlock!",
  ],
  [
    "java, an exception with a cause",
    `
Exception in thread "main" java.lang.IllegalStateException: cannot read PORT
\tat P.main(P.java:1)
Caused by: java.lang.NumberFormatException: For input string: "x"
\tat java.base/java.lang.Integer.parseInt(Integer.java:668)
\tat P.main(P.java:1)
\t... 3 more
`,
    'Caused by: java.lang.NumberFormatException: For input string: "x"',
  ],
  [
    "java, an exception",
    `
Exception in thread "main" java.lang.IllegalStateException: no PORT
\tat P.main(P.java:1)
`,
    'Exception in thread "main" java.lang.IllegalStateException: no PORT',
  ],
  ["a shell that finds no program", "\nsh: 1: nosuchprog: not found\n", "sh: 1: nosuchprog: not found"],
  [
    "a shell that finds no program, below npm",
    `
> start
> tsx server.ts

sh: 1: tsx: not found
npm error Lifecycle script \`start\` failed with error:
npm error code 127
`,
    "sh: 1: tsx: not found",
  ],
  [
    "rust, a panic",
    `
thread 'main' panicked at src/main.rs:2:5:
no configuration
note: run with \`RUST_BACKTRACE=1\` environment variable to display a backtrace
`,
    "no configuration",
  ],
  [
    "ruby",
    `
/srv/app.rb:1:in \`boot': no configuration (RuntimeError)
\tfrom /srv/app.rb:4:in \`<main>'
`,
    "/srv/app.rb:1:in `boot': no configuration (RuntimeError)",
  ],
  ["a program with its own message", "\nstarting\nno configuration\n\n", "no configuration"],
];

describe("lastErrorLine()", () => {
  test.each(crashes)("%s", (_what, output, line) => {
    expect(lastErrorLine(output.split("\n"))?.text).toBe(line);
  });

  test("no output", () => {
    expect(lastErrorLine(["", " "])).toBeUndefined();
  });

  test("whether it was the last line", () => {
    expect(lastErrorLine(["one", " two "])).toEqual({ text: "two", isLast: true });
    expect(lastErrorLine(["panic: no", "goroutine 1 [running]:"])).toEqual({ text: "panic: no", isLast: false });
  });
});
