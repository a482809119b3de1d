import { expect, test } from "vitest";

import { readCommand } from "../../../runtime/watchdog/command.ts";

test.each<[process: string, folder: string | undefined, command: readonly string[]]>([
  ["/bin/sh -c 'echo \"a b\"' c\\ d", undefined, ["/bin/sh", "-c", 'echo "a b"', "c d"]],
  ["/bin/sh {folder}", undefined, ["/bin/sh", "{folder}"]],
  ["{folder}/sh --at={folder}:{folder}", "/bin", ["/bin/sh", "--at=/bin:/bin"]],
  ["/bin/sh {folder}/a '{folder} b'", "/x y/$&'", ["/bin/sh", "/x y/$&'/a", "/x y/$&' b"]],
])("%j in %j", (process, folder, command) => {
  expect(readCommand(process, "/bin", folder)).toEqual(command);
});
