import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

import { bundleScripts } from "./bundle-scripts.ts";
import { indexPage } from "./index-page.ts";
import { joinSheets } from "./join-sheets.ts";

/** A compressed form of a file. */
export interface EncodedFile {
  /** As in `Content-Encoding`. */
  readonly coding: "br" | "gzip";
  /** Below the directory. */
  readonly file: string;
  readonly size: number;
}

/** A file of the console as `files.json` lists it. */
export interface ListedFile {
  /** Where the gateway serves it. */
  readonly path: string;
  /** Below the directory. */
  readonly file: string;
  /** As in `Content-Type`. */
  readonly type: string;
  readonly size: number;
  /** Whether its name changes with its content. */
  readonly immutable: boolean;
  /** The smallest first; empty where it saves nothing. */
  readonly encodings: readonly EncodedFile[];
}

/** A file that belongs into the directory. */
export interface ConsoleFile {
  readonly file: string;
  readonly bytes: Buffer;
}

/** What the gateway serves below `/ui/`. */
export interface MadeConsole {
  readonly list: readonly ListedFile[];
  readonly files: readonly ConsoleFile[];
  /** Bytes of JavaScript and of sheets, for the figure C1. */
  readonly sizes: ConsoleSizes;
  /** Directories of the npm packages in it, whose licences go where it goes. */
  readonly packages: readonly string[];
}

/** Bytes after gzip, but for `sheet`. */
export interface ConsoleSizes {
  readonly firstScripts: number;
  readonly scripts: number;
  readonly sheetGzip: number;
  readonly sheet: number;
}

const base = "/ui/";
const scriptType = "text/javascript; charset=utf-8";
const iconFile = "runtime/console/styles/icon.svg";

/** Makes all files of the console from the sources in the repository `root`. */
export async function makeConsoleFiles(root: string): Promise<MadeConsole> {
  const [{ scripts, packages }, sheet, icon] = await Promise.all([
    bundleScripts(root),
    joinSheets(root),
    readFile(join(root, iconFile), "utf8"),
  ]);
  const sheetName = digestName("console", sheet, "css");
  const iconName = digestName("icon", icon, "svg");
  const entryFirst = scripts.filter(({ isFirst }) => isFirst).toSorted((a, b) => rank(a.name) - rank(b.name));
  const page = indexPage({
    sheet: `${base}${sheetName}`,
    icon: `${base}${iconName}`,
    scripts: entryFirst.map(({ name }) => `${base}${name}`),
  });
  const made = await Promise.all([
    encode("index.html", page, "text/html; charset=utf-8", false),
    encode(sheetName, sheet, "text/css; charset=utf-8", true),
    encode(iconName, icon, "image/svg+xml", true),
    ...scripts.map(({ name, code }) => encode(name, code, scriptType, true)),
  ]);
  const sizes = new Map(
    made.map(({ listed: { file, size, encodings } }) => [
      file,
      encodings.find(({ coding }) => coding === "gzip")?.size ?? size,
    ]),
  );
  const gzipSize = (name: string): number => sizes.get(name) ?? 0;
  const sum = (names: readonly string[]): number => names.reduce((total, name) => total + gzipSize(name), 0);
  return {
    list: made.map(({ listed }) => listed).toSorted((a, b) => (a.path < b.path ? -1 : 1)),
    files: made.flatMap(({ files }) => files),
    sizes: {
      firstScripts: sum(entryFirst.map(({ name }) => name)),
      scripts: sum(scripts.map(({ name }) => name)),
      sheetGzip: gzipSize(sheetName),
      sheet: Buffer.byteLength(sheet),
    },
    packages,
  };
}

function rank(name: string): number {
  return name.startsWith("app-") ? 0 : 1;
}

function digestName(name: string, text: string, extension: string): string {
  return `${name}-${createHash("sha256").update(text).digest("hex").slice(0, 8)}.${extension}`;
}

async function encode(
  file: string,
  text: string,
  type: string,
  immutable: boolean,
): Promise<{ readonly listed: ListedFile; readonly files: readonly ConsoleFile[] }> {
  const bytes = Buffer.from(text);
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(bytes, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
    }),
    promisify(gzip)(bytes, { level: 9 }),
  ]);
  const forms = [
    { coding: "br", file: `${file}.br`, bytes: br },
    { coding: "gzip", file: `${file}.gz`, bytes: gz },
  ] as const;
  const kept = forms.filter((form) => form.bytes.length < bytes.length);
  return {
    listed: {
      path: `${base}${file}`,
      file,
      type,
      size: bytes.length,
      immutable,
      encodings: kept.map((form) => ({ coding: form.coding, file: form.file, size: form.bytes.length })),
    },
    files: [{ file, bytes }, ...kept],
  };
}
