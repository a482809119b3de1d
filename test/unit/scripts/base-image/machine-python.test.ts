import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { machinePython } from "../../../../scripts/base-image/machine-python.ts";
import { isStaged } from "../../../../scripts/base-image/python-files.ts";
import { tempDirectory } from "../../../support/temp-directory.ts";

async function program(directory: string, text: string): Promise<string> {
  const file = join(directory, "python3");
  await writeFile(file, `#!/bin/sh\n${text}\n`);
  await chmod(file, 0o755);
  return file;
}

test.each([
  ["os.py", true],
  ["json/decoder.py", true],
  ["lib-dynload/_ssl.cpython-311-x86_64-linux-gnu.so", true],
  ["unittest/case.py", true],
  ["encodings/latin_1.py", true],
  ["", true],
  ["__pycache__/os.cpython-311.pyc", false],
  ["json/__pycache__", false],
  ["test/support/__init__.py", false],
  ["ctypes/test", false],
  ["distutils/tests/support.py", false],
  ["site-packages/pip", false],
  ["config-3.11-x86_64-linux-gnu/libpython3.11.a", false],
  ["lib-dynload/_tkinter.cpython-311-x86_64-linux-gnu.so", false],
  ["lib-dynload/_testcapi.cpython-311-x86_64-linux-gnu.so", false],
])("of the standard library, is %j staged: %s", (path, staged) => {
  expect(isStaged(path)).toBe(staged);
});

test("Python says where it is; its modules are those that are staged", async () => {
  await using directory = await tempDirectory("python");
  await writeFile(join(directory.path, "_ssl.so"), "");
  await writeFile(join(directory.path, "_testcapi.so"), "");
  await writeFile(join(directory.path, "os.py"), "");
  const said = { executable: "/bin/sh", libraries: [directory.path], certificates: "/etc/ssl/cert.pem" };
  const command = await program(directory.path, `echo '${JSON.stringify(said)}'`);
  expect(await machinePython(command)).toMatchObject({
    ...said,
    executable: expect.stringMatching(/^\/.*sh$/),
    command,
    modules: [join(directory.path, "_ssl.so")],
  });
});

test("a Python without its whole standard library is refused with what it lacks", async () => {
  await using directory = await tempDirectory("python");
  const command = await program(
    directory.path,
    `echo 'Traceback:' >&2; echo "ModuleNotFoundError: No module named 'sqlite3'" >&2; exit 1`,
  );
  await expect(machinePython(command)).rejects.toThrow(
    `Cannot stage "${command}": ModuleNotFoundError: No module named 'sqlite3'; on Debian: apt-get install python3`,
  );
});
