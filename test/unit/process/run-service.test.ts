import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

import { expect, onTestFinished, test } from "vitest";

import { eventually } from "../../support/eventually.ts";

const main = fileURLToPath(new URL("../../support/mains/slow-service.ts", import.meta.url));

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)(
  "a second %s ends what must not be left running, in reverse order, and the process with code %i",
  async (signal, code) => {
    const child = spawn(process.execPath, [main], { stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));

    await eventually(() => output === "ready\n", { what: "the start" });
    child.kill(signal);
    await eventually(() => output === "ready\nwaiting\n", { what: "the notice" });
    // A signal that comes at once is the terminal's own, passed on by npm.
    await eventually(() => child.exitCode !== null || (child.kill(signal) && false), { what: "the end" });
    expect(child.exitCode).toBe(code);
    await eventually(() => output === "ready\nwaiting\nchild gone\nlock gone\n", { what: "what it did at last" });
  },
);
