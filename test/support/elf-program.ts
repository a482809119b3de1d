/** Machine code that exits with `exitCode`, for the processors that Weir is built for. */
const machines: Readonly<Record<string, { machine: number; code: (exitCode: number) => readonly number[] }>> = {
  x64: {
    machine: 62,
    code: (exitCode) => [0xbf, exitCode, 0, 0, 0, 0xb8, 60, 0, 0, 0, 0x0f, 0x05],
  },
  arm64: {
    machine: 183,
    code: (exitCode) => [(exitCode << 5) & 0xff, exitCode >> 3, 0x80, 0xd2, 0xa8, 0x0b, 0x80, 0xd2, 1, 0, 0, 0xd4],
  },
};

const symbolNames = "\0a_name_that_only_debuggers_read\0";
const sectionNames = "\0.text\0.symtab\0.strtab\0.shstrtab\0";
const address = 0x40_0000;

/** A Linux program for this processor that ends with `exitCode` (at most 63), with `symbolBytes` bytes of symbols. */
export function elfProgram(exitCode: number, symbolBytes = 4_096): Buffer {
  const target = machines[process.arch];
  if (target === undefined) throw new Error(`there is no program for ${process.arch}`);
  const code = Buffer.from(target.code(exitCode));
  const textAt = 64 + 56;
  const symbolsAt = textAt + code.length;
  const namesAt = symbolsAt + symbolBytes;
  const sectionNamesAt = namesAt + symbolNames.length;
  const tableAt = Math.ceil((sectionNamesAt + sectionNames.length) / 8) * 8;

  const header = Buffer.alloc(64);
  header.write("\x7fELF\x02\x01\x01", "latin1");
  header.writeUInt16LE(2, 16);
  header.writeUInt16LE(target.machine, 18);
  header.writeUInt32LE(1, 20);
  header.writeBigUInt64LE(BigInt(address + textAt), 24);
  header.writeBigUInt64LE(64n, 32);
  header.writeBigUInt64LE(BigInt(tableAt), 40);
  for (const [index, value] of [64, 56, 1, 64, 5, 4].entries()) header.writeUInt16LE(value, 52 + 2 * index);

  const segment = Buffer.alloc(56);
  segment.writeUInt32LE(1, 0);
  segment.writeUInt32LE(5, 4);
  for (const at of [16, 24]) segment.writeBigUInt64LE(BigInt(address), at);
  for (const at of [32, 40]) segment.writeBigUInt64LE(BigInt(symbolsAt), at);
  segment.writeBigUInt64LE(4_096n, 48);

  const table = Buffer.alloc(5 * 64);
  const sections: readonly [name: string, type: number, flags: number, at: number, size: number][] = [
    [".text", 1, 6, textAt, code.length],
    [".symtab", 2, 0, symbolsAt, symbolBytes],
    [".strtab", 3, 0, namesAt, symbolNames.length],
    [".shstrtab", 3, 0, sectionNamesAt, sectionNames.length],
  ];
  for (const [index, [name, type, flags, at, size]] of sections.entries()) {
    const entry = table.subarray((index + 1) * 64);
    entry.writeUInt32LE(sectionNames.indexOf(`${name}\0`), 0);
    entry.writeUInt32LE(type, 4);
    for (const [field, value] of [
      [8, flags],
      [24, at],
      [32, size],
    ] as const) {
      entry.writeBigUInt64LE(BigInt(value), field);
    }
  }
  const names = Buffer.alloc(tableAt - namesAt);
  names.write(symbolNames + sectionNames, "latin1");
  return Buffer.concat([header, segment, code, Buffer.alloc(symbolBytes), names, table]);
}
