import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { chmod, copyFile, mkdir, realpath, symlink, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";

import { findTool } from "../debian-tool.ts";

const run = promisify(execFile);

/** What a small system is made of. */
export interface RootContent {
  /** Its name, for people. */
  readonly title: string;
  /** Files of this machine that go to `/usr/bin`, with their libraries. */
  readonly programs: readonly string[];
  /** Who its processes run as; user and group have the same name and number. */
  readonly user: { readonly name: string; readonly id: number; readonly home: string; readonly shell: string };
  /** Directories that everybody can write to. */
  readonly writable: readonly string[];
}

/** Where the image keeps what the system has in `/bin`, `/lib` and so on. */
const merged = ["bin", "sbin", "lib", "lib64"];
const directories = ["etc/ssl/certs", "root", "tmp", "proc", "sys", "dev", "run"];
/** Looked up by name when a program asks for an address or a user. */
const nameLibraries = ["libnss_files.so.2", "libnss_dns.so.2", "libresolv.so.2"];
const certificates = "/etc/ssl/certs/ca-certificates.crt";

/**
 * Lays out a small system below `root`: programs with their libraries, users, certificates, and nothing else. Gives the
 * files of this machine that it is made of.
 */
export async function stageRoot(root: string, content: RootContent): Promise<string[]> {
  for (const name of merged) {
    await mkdir(join(root, "usr", name), { recursive: true });
    await symlink(`usr/${name}`, join(root, name));
  }
  for (const name of [...directories, ...content.writable]) await mkdir(join(root, name), { recursive: true });
  for (const name of content.writable) await chmod(join(root, name), 0o1777);
  for (const [path, text] of Object.entries(filesOf(content))) await writeFile(join(root, path), text);
  await copyFile(certificates, join(root, certificates)).catch(() => {});

  const used: string[] = [];
  const libraries = new Set<string>();
  for (const program of content.programs) {
    used.push(await place(root, program, join("usr/bin", basename(program))));
    for (const library of await librariesOf(program)) libraries.add(library);
  }
  const places = new Set([...libraries].map(dirname));
  for (const name of nameLibraries) for (const directory of places) libraries.add(join(directory, name));
  for (const library of libraries) {
    const found = await realpath(library).catch(() => undefined);
    if (found !== undefined) used.push(await place(root, found, library));
  }
  return used;
}

/** Paths of those of `names` that this system has. */
export function programsFound(names: readonly string[]): string[] {
  return names.map(findTool).filter((path) => path !== undefined);
}

function filesOf({ title, user }: RootContent): Readonly<Record<string, string>> {
  const shell = user.shell === "" ? "/sbin/nologin" : user.shell;
  return {
    "etc/passwd": `root:x:0:0:root:/root:${shell}\n${user.name}:x:${user.id}:${user.id}:${user.name}:${user.home}:${shell}\n`,
    "etc/group": `root:x:0:\n${user.name}:x:${user.id}:\n`,
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
    "etc/os-release": `NAME="${title}"\nID=weir\n`,
  };
}

async function place(root: string, from: string, to: string): Promise<string> {
  const source = await realpath(from);
  await mkdir(dirname(join(root, to)), { recursive: true });
  await copyFile(source, join(root, to), constants.COPYFILE_FICLONE);
  await chmod(join(root, to), 0o755);
  return source;
}

/** The loader too; none for a program that is linked statically. */
async function librariesOf(program: string): Promise<string[]> {
  const { stdout } = await run("ldd", [program]).catch(() => ({ stdout: "" }));
  return [...stdout.matchAll(/(?:=> )?(\/\S+) \(0x/g)].map(([, path = ""]) => path);
}
