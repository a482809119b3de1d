import { expect, test } from "vitest";

import { openShell } from "../../support/shell-session.ts";
import { tempDirectory } from "../../support/temp-directory.ts";

test("a shell keeps its variables and directory, and separates outputs and codes", async () => {
  await using directory = await tempDirectory("shell");
  await using shell = openShell({ directory: directory.path });

  expect(await shell.run("A=1\npwd")).toEqual({ stdout: `${directory.path}\n`, stderr: "", code: 0 });
  expect(await shell.run('printf "%s" "$A"; echo oops >&2; (exit 3)')).toEqual({
    stdout: "1",
    stderr: "oops\n",
    code: 3,
  });
  expect((await shell.run("true")).stdout).toBe("");
});

test("commands that take too long, or end the shell, are errors", async () => {
  await using directory = await tempDirectory("shell");
  await using shell = openShell({ directory: directory.path });
  await shell.run("true");
  await expect(shell.run("echo begun; sleep 30", 2_000)).rejects.toThrow(
    /in vain for the end of: echo begun; sleep 30; last error: it has written .*begun/s,
  );
  await expect(shell.run("true")).rejects.toThrow('the shell still runs "echo begun; sleep 30"');

  await using other = openShell({ directory: directory.path });
  await expect(other.run("exit 2")).rejects.toThrow("the shell is gone");
});
