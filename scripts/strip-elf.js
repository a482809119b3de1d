// JavaScript without dependencies, as scripts/setup.js needs it before anything is installed.

/** Offsets and sizes of ELF64 (System V ABI, gabi 4.1, "ELF Header", "Sections", "Program Header"). */
const header = { bytes: 64, programs: 32, sections: 40, programSize: 54, programCount: 56, sectionSize: 58 };
const counts = { sections: 60, names: 62 };
const program = { offset: 8, fileSize: 32, bytes: 56 };
const section = { type: 4, flags: 8, offset: 24, size: 32, bytes: 64 };
const inMemory = 2n;
const takesNoFile = 8;
const sectionAlignment = 8;

/**
 * A Linux program without the sections that are not loaded to run it: symbols and line numbers for debuggers. Loaded
 * sections stay in place, including the table of dynamic symbols.
 * @param {Buffer} bytes the whole file
 * @returns {Buffer[] | undefined} the parts of the smaller file; undefined when it is not a 64-bit little-endian ELF
 *   file
 *   with sections, is damaged, or has nothing to remove
 */
export function withoutSymbols(bytes) {
  if (bytes.length < header.bytes || bytes.toString("latin1", 0, 6) !== "\x7fELF\x02\x01") return undefined;
  const programs = Number(bytes.readBigUInt64LE(header.programs));
  const programCount = bytes.readUInt16LE(header.programCount);
  const sections = Number(bytes.readBigUInt64LE(header.sections));
  const sectionCount = bytes.readUInt16LE(counts.sections);
  const names = bytes.readUInt16LE(counts.names);
  if (bytes.readUInt16LE(header.programSize) !== program.bytes) return undefined;
  if (bytes.readUInt16LE(header.sectionSize) !== section.bytes) return undefined;
  if (programCount === 0 || names === 0 || names >= sectionCount) return undefined;
  const programsEnd = programs + programCount * program.bytes;
  if (programsEnd > bytes.length || sections + sectionCount * section.bytes > bytes.length) return undefined;

  let end = Math.max(header.bytes, programsEnd);
  for (let at = programs; at < programsEnd; at += program.bytes) {
    const size = bytes.readBigUInt64LE(at + program.fileSize);
    end = Math.max(end, Number(bytes.readBigUInt64LE(at + program.offset) + size));
  }
  // A removed section leaves an empty entry, so that entries which refer to others by number stay valid.
  const table = Buffer.alloc(sectionCount * section.bytes);
  let text = Buffer.alloc(0);
  for (let index = 0; index < sectionCount; index += 1) {
    const entry = bytes.subarray(sections + index * section.bytes, sections + (index + 1) * section.bytes);
    const offset = Number(entry.readBigUInt64LE(section.offset));
    const size = Number(entry.readBigUInt64LE(section.size));
    if (index === names) {
      if (offset + size > bytes.length) return undefined;
      text = bytes.subarray(offset, offset + size);
    } else if ((entry.readBigUInt64LE(section.flags) & inMemory) === 0n) continue;
    else if (entry.readUInt32LE(section.type) !== takesNoFile) end = Math.max(end, offset + size);
    entry.copy(table, index * section.bytes);
  }
  if (end > bytes.length) return undefined;

  const tableAt = Math.ceil((end + text.length) / sectionAlignment) * sectionAlignment;
  if (tableAt + table.length >= bytes.length) return undefined;
  table.writeBigUInt64LE(BigInt(end), names * section.bytes + section.offset);
  const head = Buffer.from(bytes.subarray(0, header.bytes));
  head.writeBigUInt64LE(BigInt(tableAt), header.sections);
  return [head, bytes.subarray(header.bytes, end), text, Buffer.alloc(tableAt - end - text.length), table];
}
