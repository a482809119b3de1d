/** Instructions of classic BPF for the kernel's seccomp (linux/filter.h, linux/seccomp.h). */
const load = 0x20;
const jumpEqual = 0x15;
const jumpAtLeast = 0x35;
const jumpAnyBit = 0x45;
const ret = 0x06;
/** Offsets of a system call's number, architecture and first argument in `struct seccomp_data`. */
const at = { number: 0, architecture: 4, firstArgument: 16 } as const;
const allow = 0x7fff_0000;
const refuse = (errno: number): number => 0x0005_0000 | errno;
const errno = { notPermitted: 1, notImplemented: 38 } as const;
/** Flags of `clone` that create namespaces. */
const namespaceFlags = 0x7e02_0000;
/** Numbers from here on are calls of x32, which have other meanings. */
const x32 = 0x4000_0000;

interface Machine {
  readonly architecture: number;
  readonly clone: number;
  readonly refused: readonly number[];
}

/** Same numbers on every machine: io_uring, calls that mount, `clone3`. */
const common = [425, 426, 427, 428, 429, 430, 431, 432, 433, 435, 442, 443];
const clone3 = 435;

/**
 * Calls that functions do not need and that attacks on the kernel begin with: modules, kexec, keys, bpf, clocks,
 * mounts, namespaces, performance events, swap, memory of other nodes. These are the calls that container engines
 * refuse by default, except those that debuggers need.
 */
const machines: Readonly<Record<string, Machine>> = {
  x64: {
    architecture: 0xc000_003e,
    clone: 56,
    refused: [
      134, 136, 139, 153, 155, 156, 163, 164, 165, 166, 167, 168, 169, 172, 173, 174, 175, 176, 177, 178, 179, 180, 212,
      227, 246, 248, 249, 250, 272, 279, 298, 303, 304, 305, 308, 312, 313, 320, 321, 323,
    ],
  },
  arm64: {
    architecture: 0xc000_00b7,
    clone: 220,
    refused: [
      18, 39, 40, 41, 42, 58, 60, 89, 97, 104, 105, 106, 112, 142, 170, 217, 218, 219, 224, 225, 239, 241, 264, 265,
      266, 268, 272, 273, 280, 282, 294,
    ],
  },
};

/** The number of `prctl`, which installs a filter. */
export const prctlNumber: Readonly<Record<string, number>> = { x64: 157, arm64: 167 };

/** The filter for functions on this kind of processor, as bytes of `struct sock_filter`; undefined if there is none. */
export function seccompFilter(kind: string): Buffer | undefined {
  const machine = machines[kind];
  if (machine === undefined) return undefined;
  const refused = [...machine.refused, ...common.filter((number) => number !== clone3)];
  const program: (readonly [code: number, value: number, ifTrue?: number, ifFalse?: number])[] = [
    [load, at.architecture],
    // Calls of another architecture have other numbers.
    [jumpEqual, machine.architecture, 1, 0],
    [ret, refuse(errno.notPermitted)],
    [load, at.number],
    [jumpAtLeast, x32, 0, 1],
    [ret, refuse(errno.notPermitted)],
    // A filter cannot read its flags; callers that are told it does not exist use `clone`.
    [jumpEqual, clone3, 0, 1],
    [ret, refuse(errno.notImplemented)],
    ...refused.flatMap((number): (readonly [number, number, number?, number?])[] => [
      [jumpEqual, number, 0, 1],
      [ret, refuse(errno.notPermitted)],
    ]),
    [jumpEqual, machine.clone, 0, 3],
    [load, at.firstArgument],
    [jumpAnyBit, namespaceFlags, 0, 1],
    [ret, refuse(errno.notPermitted)],
    [ret, allow],
  ];
  const bytes = Buffer.alloc(program.length * 8);
  program.forEach(([code, value, ifTrue = 0, ifFalse = 0], index) => {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(ifTrue, index * 8 + 2);
    bytes.writeUInt8(ifFalse, index * 8 + 3);
    bytes.writeUInt32LE(value, index * 8 + 4);
  });
  return bytes;
}
