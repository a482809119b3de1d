import { sep } from "node:path";

/** Tests, editors with windows, what building extensions takes, packages beyond the standard library, old bytecode. */
const leftOut = [
  /^(?:__pycache__|tests?|idlelib|tkinter|turtledemo|site-packages|dist-packages|config-.*)$/,
  /^(?:turtle\.py|_tkinter\..*|_test.*\.so|_xxtest.*\.so|xxlimited.*\.so)$/,
];

/** Whether the image gets a file or directory of Python's standard library, `path` below it. */
export function isStaged(path: string): boolean {
  return !path.split(sep).some((part) => leftOut.some((pattern) => pattern.test(part)));
}
