import { expect, test } from "vitest";

import { seccompFilter } from "../../../../../runtime/adapters/machine/local/seccomp-filter.ts";

const allow = 0x7fff_0000;
const notPermitted = 0x0005_0001;
const architectures = { x64: 0xc000_003e, arm64: 0xc000_00b7 };

/** Runs the filter as the kernel does; returns its verdict. */
function judge(filter: Buffer, architecture: number, number: number, firstArgument = 0): number {
  const data = new Map([
    [0, number],
    [4, architecture],
    [16, firstArgument],
  ]);
  let accumulator = 0;
  for (let at = 0; at * 8 < filter.length; at += 1) {
    const code = filter.readUInt16LE(at * 8);
    const value = filter.readUInt32LE(at * 8 + 4);
    const holds =
      code === 0x15 ? accumulator === value : code === 0x35 ? accumulator >= value : (accumulator & value) !== 0;
    if (code === 0x20) accumulator = data.get(value) ?? Number.NaN;
    else if (code === 0x06) return value;
    else at += filter.readUInt8(at * 8 + (holds ? 2 : 3));
  }
  throw new Error("the filter ends without an answer");
}

test.each([
  [
    "x64",
    { mount: 165, unshare: 272, bpf: 321, keyctl: 250, initModule: 175, setns: 308, ioUring: 425 },
    { read: 0, execve: 59, futex: 202, ptrace: 101 },
    56,
  ],
  [
    "arm64",
    { mount: 40, unshare: 97, bpf: 280, keyctl: 219, initModule: 105, setns: 268, ioUring: 425 },
    { read: 63, execve: 221, futex: 98, ptrace: 117 },
    220,
  ],
] as const)("on %s refuses what a function has no use for, and nothing else", (kind, refused, allowed, clone) => {
  const filter = seccompFilter(kind) ?? Buffer.alloc(0);
  const ask = (number: number, argument?: number): number => judge(filter, architectures[kind], number, argument);
  for (const number of Object.values(refused)) expect(ask(number)).toBe(notPermitted);
  for (const number of Object.values(allowed)) expect(ask(number)).toBe(allow);
  // Threads and processes, but no namespaces.
  expect(ask(clone, 0x0001_0f00)).toBe(allow);
  expect(ask(clone, 0x1000_0000)).toBe(notPermitted);
  expect(ask(435)).toBe(0x0005_0026);
});

test("refuses system calls of other architectures, whose numbers have other meanings", () => {
  const filter = seccompFilter("x64") ?? Buffer.alloc(0);
  expect(judge(filter, 0x4000_0003, 4)).toBe(notPermitted);
  expect(judge(filter, architectures.x64, 0x4000_0000)).toBe(notPermitted);
});

test("there is no filter for unknown architectures", () => {
  expect(seccompFilter("riscv64")).toBeUndefined();
});
