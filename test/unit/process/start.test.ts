import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

import { expect, onTestFinished, test } from "vitest";

import { eventually } from "../../support/eventually.ts";

const main = fileURLToPath(new URL("../../support/mains/started-process.ts", import.meta.url));

/** A process of `start` with these flags and a free admin port. */
function launch(...flags: string[]) {
  const child = spawn(process.execPath, [main, "--admin-port", "0", ...flags], { stdio: ["pipe", "pipe", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let stderr = "";
  let stdout = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  const entries = (): Record<string, unknown>[] =>
    stderr
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  return {
    child,
    go: () => void child.stdin.write("go\n"),
    ended: async () => {
      const [code] = await once(child, "close");
      return { code, stdout, stderr };
    },
    messages: () => entries().map(({ msg }) => msg),
    /** The log line with this message. */
    line: (sentence: string) => eventually(() => entries().find(({ msg }) => msg === sentence), { what: sentence }),
  };
}

test("a process is ready once all is open, and not ready before anything is closed", async () => {
  const { child, go, ended, messages, line } = launch();
  const { adminPort } = await line("opening");
  const readiness = async (): Promise<string> => {
    const response = await fetch(`http://127.0.0.1:${String(adminPort)}/readyz`);
    return `${response.status} ${await response.text()}`;
  };
  expect(await readiness()).toBe("503 starting\n");

  go();
  expect(await line("sample is ready")).toMatchObject({ colour: "green", adminPort });
  expect(await readiness()).toBe("200 ok\n");

  child.kill("SIGTERM");
  expect(await line("draining")).toMatchObject({ stopped: true });
  expect(await readiness()).toBe("503 draining\n");
  expect(messages()).not.toContain("part closed");

  const end = ended();
  go();
  expect((await end).code).toBe(0);
  expect(messages().slice(-2)).toEqual(["draining", "part closed"]);
});

test("when the start fails, what was open is closed, and the code is 1", async () => {
  const { ended, messages } = launch("--way", "bad");
  expect((await ended()).code).toBe(1);
  expect(new Set(messages())).toEqual(new Set(["cannot start", "part closed"]));
});

test("all errors of the settings are reported at once, and nothing opens", async () => {
  const { code, stderr } = await launch("--way", "odd", "--log-level", "loud").ended();
  expect(code).toBe(1);
  expect(stderr).toContain('way: expected one of good, bad, got "odd"');
  expect(stderr).toContain("log_level: expected");
});

test.each([
  ["--version", "1.2.3\n"],
  ["--help", "A process of a test."],
])("%s prints its text and ends with code 0", async (flag, text) => {
  const { code, stdout } = await launch(flag).ended();
  expect(code).toBe(0);
  expect(stdout).toContain(text);
});
