import { open, stat } from "node:fs/promises";

const pageSize = 4_096;

/** Overwrites the pages of a SQLite file from one share of it to another (0 to 1), which damages it. */
export async function overwritePages(file: string, from: number, to: number): Promise<void> {
  const pages = Math.floor((await stat(file)).size / pageSize);
  const [first, last] = [Math.floor(pages * from), Math.max(1, Math.floor(pages * to))];
  const handle = await open(file, "r+");
  try {
    for (let page = first; page < last; page += 1)
      await handle.write(Buffer.alloc(pageSize, 0xa5), 0, pageSize, page * pageSize);
  } finally {
    await handle.close();
  }
}
